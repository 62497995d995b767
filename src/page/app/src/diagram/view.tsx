// The diagram: a canvas that is panned, zoomed and clicked, with what belongs around it.

import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as app from "../app";
import type { Drawing, Point } from "../protocol";
import { scopedPaths, addToScope } from "../scopes/scopes";
import { icons } from "../ui/icons";
import { dark } from "../ui/theme";
import { opens } from "./fold";
import {
  type Hit,
  hit,
  neighbour,
  pathOfOutput,
  pathOfWire,
  toWorld,
  type View,
  zoom,
} from "./geometry";
import { Legend } from "./legend";
import { Painter } from "./paint";
import * as sheet from "./sheet";
import { inks, Stage } from "./stage";
import { type Tip, Tooltip } from "./tooltip";

/** How far from a wire the mouse may be [px]. */
const REACH = 6;
/** How far the mouse may move in a click [px]. */
const CLICK = 4;

function tipOf(drawing: Drawing, at: Hit): Omit<Tip, "x" | "y" | "width" | "height"> | null {
  if (!at || at.kind === "frame") return null;
  const { symbols, wires } = drawing.schematic;
  if (at.kind === "wire") {
    const wire = wires[at.index]!;
    const from = symbols[wire.from.symbol]!;
    const to = symbols[wire.to.symbol]!;
    const output = from.outputs[wire.from.pin];
    const reader = to.path ? `${to.path}.${to.inputs[wire.to.pin] ?? ""}` : to.note;
    return {
      path: pathOfWire(drawing, at.index),
      block: from.path,
      port: output?.name ?? "",
      type: wire.part ? "" : (output?.ty ?? ""),
      to: reader,
      time: from.sample_time,
    };
  }
  const symbol = symbols[at.index]!;
  if (at.kind === "output") {
    const output = symbol.outputs[at.pin]!;
    const path = pathOfOutput(symbol.path, output.name);
    const { sample_time: time } = symbol;
    return { path, block: symbol.path, port: output.name, type: output.ty, to: "", time };
  }
  return null;
}

export function DiagramView() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<Stage | null>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const [said, setSaid] = useState("");
  const drawn = sheet.drawn.value;
  const painter = useMemo(
    () => (drawn ? new Painter(drawn.drawing, sheet.periods.peek()) : null),
    [drawn, sheet.periods.value.join()],
  );

  useEffect(() => {
    const element = canvas.current!;
    const context = element.getContext("2d", { alpha: false })!;
    const made = new Stage(element, context);
    stage.current = made;
    Object.assign(window, { legworkDiagram: made });
    const observer = new ResizeObserver(() => (made.fitted ? made.request() : made.fit()));
    observer.observe(element);
    const stop = effect(() => {
      void [
        app.present.value,
        app.off.value,
        app.selection.value,
        sheet.found.value,
        app.heat.value,
      ];
      void [scopedPaths.value, sheet.parted.value, dark.value];
      made.ink = inks();
      made.request();
    });
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      setTip(null);
      if (event.shiftKey) {
        made.view = { ...made.view, x: made.view.x - (event.deltaX || event.deltaY) };
      } else {
        const factor = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016));
        made.view = zoom(made.view, factor, [event.offsetX, event.offsetY]);
      }
      made.request();
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      stop();
      observer.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);

  useEffect(() => {
    const made = stage.current;
    if (!made || !painter) return;
    const before = made.drawing;
    made.painter = painter;
    made.hover = null;
    // What was opened or closed stays where it is.
    const placeOf = (drawing: Drawing | null) => {
      if (!drawing || !sheet.anchor) return null;
      const symbol = sheet.indexOf(drawing, sheet.anchor);
      if (symbol >= 0) return drawing.symbols[symbol]!;
      const frame = drawing.schematic.frames.findIndex(({ path }) => path === sheet.anchor);
      return frame > 0 ? drawing.frames[frame]! : null;
    };
    const [from, to] = [placeOf(before), placeOf(painter.drawing)];
    if (from && to) {
      const { x, y, scale } = made.view;
      made.view = { scale, x: x + scale * (from.x - to.x), y: y + scale * (from.y - to.y) };
    } else if (!before || before !== painter.drawing) {
      made.fit();
    }
    made.request();
  }, [painter]);

  const pressed = useRef<{ at: Point; view: View; moved: boolean } | null>(null);

  const under = (event: MouseEvent): Hit => {
    const made = stage.current!;
    if (!made.drawing) return null;
    const at = toWorld(made.view, [event.offsetX, event.offsetY]);
    return hit(made.drawing, at, REACH / made.view.scale);
  };

  const move = (event: PointerEvent) => {
    const made = stage.current!;
    const press = pressed.current;
    if (press) {
      const [dx, dy] = [event.offsetX - press.at[0], event.offsetY - press.at[1]];
      press.moved ||= Math.hypot(dx, dy) > CLICK;
      if (press.moved) {
        made.view = { ...press.view, x: press.view.x + dx, y: press.view.y + dy };
        setTip(null);
        made.request();
      }
      return;
    }
    const at = under(event);
    if (JSON.stringify(at) === JSON.stringify(made.hover)) return;
    made.hover = at;
    made.canvas.style.cursor = at ? "pointer" : "grab";
    const words = made.drawing && tipOf(made.drawing, at);
    const { width, height } = made.size();
    setTip(words ? { ...words, x: event.offsetX, y: event.offsetY, width, height } : null);
    made.request();
  };

  const click = (event: MouseEvent) => {
    const made = stage.current!;
    const at = under(event);
    const drawing = made.drawing;
    if (!drawing) return;
    if (!at) app.selection.value = null;
    else if (at.kind === "wire" || at.kind === "output") {
      const words = tipOf(drawing, at)!;
      app.selection.value = { kind: "wire", path: words.path, to: words.to, type: words.type };
      void addToScope(words.path, event.shiftKey);
      setSaid(`${words.path} added to the scope`);
    } else if (at.kind === "frame") {
      app.selection.value = { kind: "frame", path: drawing.schematic.frames[at.index]!.path };
    } else select(at.index);
  };

  const select = (index: number) => {
    const made = stage.current!;
    const symbol = made.drawing?.schematic.symbols[index];
    if (!symbol?.path) return;
    app.selection.value = { kind: "block", path: symbol.path };
    setSaid(`${symbol.path}, ${symbol.kind}, ${symbol.role}`);
  };

  const open = (at: Hit) => {
    const drawing = stage.current?.drawing;
    if (!drawing || !at) return;
    if (at.kind === "frame") void sheet.toggle(drawing.schematic.frames[at.index]!.path);
    else if (at.kind !== "wire" && opens(drawing.schematic.symbols[at.index]!)) {
      void sheet.toggle(drawing.schematic.symbols[at.index]!.path);
    }
  };

  const key = (event: KeyboardEvent) => {
    const made = stage.current!;
    const drawing = made.drawing;
    if (!drawing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = made.size();
    const middle: Point = [width / 2, height / 2];
    const arrows: Record<string, Point> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const arrow = arrows[event.key];
    const selected = app.selection.value;
    const index = selected ? sheet.indexOf(drawing, selected.path) : -1;
    if (arrow && event.shiftKey) {
      made.view = { ...made.view, x: made.view.x - 60 * arrow[0], y: made.view.y - 60 * arrow[1] };
    } else if (arrow) {
      const next = index < 0 ? 0 : neighbour(drawing, index, ...arrow);
      select(next);
      made.reveal(next);
    } else if (event.key === "+" || event.key === "=") made.view = zoom(made.view, 1.25, middle);
    else if (event.key === "-") made.view = zoom(made.view, 0.8, middle);
    else if (event.key === "0") made.fit();
    else if (event.key === "Enter" && index >= 0) open({ kind: "symbol", index });
    else if (event.key === "Backspace" && selected) {
      const symbol = drawing.schematic.symbols[index];
      const frame = symbol ? symbol.frame : 0;
      if (frame > 0) void sheet.toggle(drawing.schematic.frames[frame]!.path);
    } else if (event.key === "g" && index >= 0) {
      const symbol = drawing.schematic.symbols[index]!;
      for (const output of symbol.outputs)
        void addToScope(pathOfOutput(symbol.path, output.name), false);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    made.request();
  };

  const go = (event: Event) => {
    event.preventDefault();
    const drawing = stage.current?.drawing;
    const hits = [...sheet.found.value];
    if (!drawing) return;
    if (!hits.length) {
      // It may lie in a frame that is closed.
      const words = sheet.search.value.toLowerCase();
      const blocks = app.model.value?.blocks ?? [];
      const path = blocks.find((block) => block.path.toLowerCase().includes(words))?.path;
      if (path) void sheet.show(path).then(() => (app.selection.value = { kind: "block", path }));
      return;
    }
    const selected = app.selection.value?.path ?? "";
    const at = hits.indexOf(sheet.indexOf(drawing, selected));
    const next = hits[(at + 1) % hits.length]!;
    select(next);
    stage.current?.reveal(next);
  };

  const hits = sheet.found.value.size;
  const symbolCount = drawn?.drawing.schematic.symbols.filter((s) => s.role !== "Join").length ?? 0;
  return (
    <section class="pane diagram" aria-label="Diagram">
      <div class="tools">
        <form class="search" role="search" onSubmit={go}>
          <input
            id="search"
            type="search"
            placeholder="Find a block …  /"
            aria-label="Find a block"
            value={sheet.search.value}
            onInput={(event) => (sheet.search.value = event.currentTarget.value)}
          />
          {sheet.search.value && <span class="count">{hits}</span>}
        </form>
        <span class="spring" />
        <span class="faint">{symbolCount} shown</span>
        <button
          title="Open all frames"
          aria-label="Open all frames"
          onClick={() => void sheet.openAll()}
        >
          {icons.expand}
        </button>
        <button
          title="Close all frames"
          aria-label="Close all frames"
          onClick={() => void sheet.closeAll()}
        >
          {icons.collapse}
        </button>
        <button
          title="Time of each block per step"
          aria-label="Time of each block per step"
          aria-pressed={app.heat.value !== null}
          onClick={() => void app.toggleHeat()}
          disabled={!app.live.value}
        >
          {icons.heat}
        </button>
        <button title="Fit (0)" aria-label="Fit" onClick={() => stage.current?.fit()}>
          {icons.fit}
        </button>
      </div>
      <div class="sheet">
        <canvas
          ref={canvas}
          id="diagram"
          tabIndex={0}
          role="application"
          aria-label={
            `Diagram ${drawn?.drawing.schematic.title ?? ""}. Arrow keys go from block to block, ` +
            "Enter opens a frame, g adds outputs to the scope"
          }
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            pressed.current = {
              at: [event.offsetX, event.offsetY],
              view: stage.current!.view,
              moved: false,
            };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={move}
          onPointerUp={(event) => {
            const press = pressed.current;
            pressed.current = null;
            if (press && !press.moved) click(event);
          }}
          onPointerCancel={() => (pressed.current = null)}
          onPointerLeave={() => {
            if (stage.current) stage.current.hover = null;
            setTip(null);
            stage.current?.request();
          }}
          onDblClick={(event) => open(under(event))}
          onKeyDown={key}
        />
        {tip && <Tooltip tip={tip} />}
        <Legend drawn={drawn} />
        <p class="hidden" aria-live="polite">
          {said}
        </p>
      </div>
    </section>
  );
}
