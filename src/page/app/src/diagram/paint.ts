// Paints a drawing on a canvas. What does not change is prepared once for each drawing.

import type { Drawing, Flow, Point, Rect } from "../protocol";
import { opens } from "./fold";
import { type Hit, junctions, trace, type View } from "./geometry";
import { colourOf, type RateColour } from "./rates";

/** Colours of the sheet. */
export interface Ink {
  dark: boolean;
  sheet: string;
  frames: string[];
  frameLine: string;
  ink: string;
  faint: string;
  accent: string;
  warn: string;
}

/** What colours blocks and wires as a whole, and seldom changes. */
export interface Tint {
  off: ReadonlySet<string>;
  loops: ReadonlySet<string>;
  heat: ReadonlyMap<string, number> | null;
}

/** What is marked. */
export interface Marks {
  hover: Hit;
  selected: string | null;
  present: string | null;
  scoped: ReadonlySet<string>;
  found: ReadonlySet<number>;
  /** Blocks whose signals were the first to part. */
  parted: ReadonlySet<string>;
}

/** Size of a canvas in CSS pixels, and device pixels in each. */
export interface Size {
  width: number;
  height: number;
  ratio: number;
}

interface Stroke {
  path: Path2D;
  flow: Flow;
  thick: boolean;
}
interface Net {
  box: Rect;
  all: Path2D;
  strokes: Stroke[];
  marks: Path2D;
  from: number;
  wires: number[];
}

const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const DASHES: Record<Flow, number[]> = { Through: [], State: [6, 4], Control: [1.5, 2.5] };
/** Below this scale small text is left out. */
const SMALL_TEXT = 0.58;
const ANY_TEXT = 0.08;
/** Size of names when small text is left out, on the screen [px]. */
const NAME = 11;

/** Whether a block is among these, or a folded one has one of them inside. */
function holds(paths: ReadonlySet<string>, path: string): boolean {
  if (paths.has(path)) return true;
  for (const one of paths) {
    if (one.startsWith(path) && [".", "["].includes(one.charAt(path.length))) return true;
  }
  return false;
}

export class Painter {
  private readonly nets: Net[];
  private readonly depth: number[];
  private readonly ways: Path2D[];
  /** Widths of names at 12 px, as far as they were needed. */
  private readonly widths: number[] = [];

  constructor(
    readonly drawing: Drawing,
    private readonly periods: readonly string[],
  ) {
    const { schematic } = drawing;
    this.depth = [];
    schematic.frames.forEach((frame, index) => {
      this.depth[index] = frame.parent === null ? -1 : this.depth[frame.parent]! + 1;
    });
    const nets = new Map<string, number[]>();
    schematic.wires.forEach((wire, index) => {
      const key = `${wire.from.symbol}.${wire.from.pin}`;
      nets.set(key, [...(nets.get(key) ?? []), index]);
    });
    this.ways = drawing.wires.map(() => new Path2D());
    this.nets = [...nets.values()].map((wires) => this.net(wires));
  }

  private net(wires: number[]): Net {
    const { schematic } = this.drawing;
    const ways = wires.map((wire) => this.drawing.wires[wire]!);
    const points = junctions(ways);
    const sharp = new Set(points.map((point) => point.join()));
    const from = schematic.wires[wires[0]!]!.from;
    const bus = schematic.symbols[from.symbol]!.outputs[from.pin]?.bus ?? false;
    const strokes = new Map<string, Stroke>();
    const [all, marks] = [new Path2D(), new Path2D()];
    wires.forEach((index, i) => {
      const wire = schematic.wires[index]!;
      const thick = bus && wire.part === "";
      const key = `${wire.flow} ${thick}`;
      let stroke = strokes.get(key);
      if (!stroke) strokes.set(key, (stroke = { path: new Path2D(), flow: wire.flow, thick }));
      for (const path of [stroke.path, all, this.ways[index]!]) trace(path, ways[i]!, sharp);
      const end = ways[i]!.at(-1);
      if (end && schematic.symbols[wire.to.symbol]!.role !== "Join") {
        marks.moveTo(end[0], end[1]);
        marks.lineTo(end[0] - 7, end[1] - 3.5);
        marks.lineTo(end[0] - 7, end[1] + 3.5);
        marks.closePath();
      }
    });
    for (const [x, y] of points) {
      marks.moveTo(x + 2.6, y);
      marks.arc(x, y, 2.6, 0, 2 * Math.PI);
    }
    return {
      box: around(ways.flat()),
      all,
      strokes: [...strokes.values()],
      marks,
      from: from.symbol,
      wires,
    };
  }

  /** Paints all but marks on a canvas that shows a part of the sheet. */
  paint(context: CanvasRenderingContext2D, view: View, size: Size, ink: Ink, tint: Tint): void {
    const { width, height, ratio } = size;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = ink.sheet;
    context.fillRect(0, 0, width, height);
    transform(context, view, ratio);
    const seen = seenBy(view, size);
    this.frames(context, view, seen, ink, tint);
    this.wires(context, view, seen, ink, tint);
    this.symbols(context, view, seen, ink, tint);
    if (view.scale > SMALL_TEXT) this.labels(context, seen, ink);
  }

  /** Paints what is selected, found, due or under the mouse. */
  mark(context: CanvasRenderingContext2D, view: View, size: Size, ink: Ink, marks: Marks): void {
    transform(context, view, size.ratio);
    const seen = seenBy(view, size);
    const { frames, schematic, symbols } = this.drawing;
    context.setLineDash([]);
    context.strokeStyle = ink.accent;
    for (let index = 1; index < frames.length; index++) {
      const { path } = schematic.frames[index]!;
      const chosen = marks.selected === path;
      const hovered = marks.hover?.kind === "frame" && marks.hover.index === index;
      const parted = marks.parted.has(path);
      if ((!chosen && !hovered && !parted) || !meet(frames[index]!, seen)) continue;
      context.lineWidth = parted ? 3 : chosen ? 2 : 1;
      context.strokeStyle = parted ? ink.warn : ink.accent;
      box(context, frames[index]!, 8);
      context.stroke();
    }
    if (marks.scoped.size) {
      schematic.wires.forEach((_, index) => {
        if (marks.scoped.has(this.pathOf(index))) this.band(context, index, ink.accent, 4, 0.5);
      });
    }
    if (marks.hover?.kind === "wire") this.band(context, marks.hover.index, ink.accent, 3, 0.9);
    symbols.forEach((rect, index) => {
      if (meet(rect, seen)) this.outline(context, index, ink, marks);
    });
  }

  private band(
    context: CanvasRenderingContext2D,
    wire: number,
    colour: string,
    width: number,
    alpha: number,
  ): void {
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke(this.ways[wire]!);
    context.globalAlpha = 1;
  }

  private frames(
    context: CanvasRenderingContext2D,
    view: View,
    seen: Rect,
    ink: Ink,
    tint: Tint,
  ): void {
    const { frames, schematic } = this.drawing;
    for (let index = 1; index < frames.length; index++) {
      const rect = frames[index]!;
      if (!meet(rect, seen)) continue;
      const { name, path } = schematic.frames[index]!;
      context.globalAlpha = isOff(path, tint.off) ? 0.45 : 1;
      context.fillStyle = ink.frames[Math.min(this.depth[index]!, ink.frames.length - 1)]!;
      context.strokeStyle = ink.frameLine;
      context.lineWidth = 1;
      box(context, rect, 8);
      context.fill();
      context.stroke();
      if (view.scale > ANY_TEXT) {
        context.fillStyle = ink.faint;
        const size = view.scale < SMALL_TEXT ? Math.min(9 / view.scale, 20) : 12;
        context.font = `600 ${size}px ${FONT}`;
        context.textAlign = "left";
        context.fillText(`▾ ${name}`, rect.x + 10, rect.y + 6 + size, rect.width - 16);
      }
    }
    context.globalAlpha = 1;
  }

  private wires(
    context: CanvasRenderingContext2D,
    view: View,
    seen: Rect,
    ink: Ink,
    tint: Tint,
  ): void {
    const { symbols, wires } = this.drawing.schematic;
    for (const net of this.nets) {
      if (!meet(net.box, seen)) continue;
      const from = symbols[net.from]!;
      const line = this.colour(net.from, ink).line;
      context.globalAlpha = isOff(from.path, tint.off) ? 0.35 : 1;
      if (view.scale > 0.3) {
        context.setLineDash([]);
        context.strokeStyle = ink.sheet;
        context.lineWidth = 5;
        context.globalAlpha *= 0.8;
        context.stroke(net.all);
        context.globalAlpha = isOff(from.path, tint.off) ? 0.35 : 1;
      }
      context.strokeStyle = line;
      context.fillStyle = line;
      for (const { path, flow, thick } of net.strokes) {
        context.setLineDash(view.scale > 0.3 ? DASHES[flow] : []);
        context.lineWidth = thick ? 2.4 : 1.3;
        context.stroke(path);
      }
      context.setLineDash([]);
      context.fill(net.marks);
      if (!tint.loops.has(from.path)) continue;
      for (const index of net.wires) {
        if (!tint.loops.has(symbols[wires[index]!.to.symbol]!.path)) continue;
        this.band(context, index, ink.warn, 4, 0.5);
      }
    }
    context.globalAlpha = 1;
  }

  private pathOf(index: number): string {
    const wire = this.drawing.schematic.wires[index]!;
    const symbol = this.drawing.schematic.symbols[wire.from.symbol]!;
    return `${symbol.path}.${symbol.outputs[wire.from.pin]?.name ?? ""}${wire.part}`;
  }

  private colour(symbol: number, ink: Ink): RateColour {
    return colourOf(this.drawing.schematic.symbols[symbol]!.sample_time, this.periods, ink.dark);
  }

  private symbols(
    context: CanvasRenderingContext2D,
    view: View,
    seen: Rect,
    ink: Ink,
    tint: Tint,
  ): void {
    const { schematic, symbols } = this.drawing;
    const hottest = Math.max(1e-9, ...(tint.heat?.values() ?? []));
    symbols.forEach((rect, index) => {
      if (!meet(rect, seen)) return;
      const symbol = schematic.symbols[index]!;
      const { line, fill } = this.colour(index, ink);
      context.globalAlpha = isOff(symbol.path, tint.off) ? 0.35 : 1;
      if (symbol.role === "Join") {
        context.fillStyle = line;
        context.fillRect(rect.x, rect.y, rect.width, rect.height);
        return;
      }
      if (holds(tint.loops, symbol.path)) this.halo(context, index, ink.warn, 5, 2);
      context.fillStyle = fill;
      context.strokeStyle = line;
      context.lineWidth = 1.4;
      context.setLineDash(symbol.role === "Hidden" ? [3, 2] : []);
      box(context, rect, symbol.role === "Condition" ? 10 : 6);
      context.fill();
      const cost = tint.heat ? heatOf(symbol.path, symbol.role === "Folded", tint.heat) : null;
      if (cost !== null) {
        context.fillStyle = `rgba(230, 80, 20, ${0.75 * Math.sqrt(Math.min(1, cost / hottest))})`;
        context.fill();
      }
      context.stroke();
      context.setLineDash([]);
      if (opens(symbol)) {
        context.lineWidth = 0.8;
        const inner = {
          x: rect.x + 3,
          y: rect.y + 3,
          width: rect.width - 6,
          height: rect.height - 6,
        };
        box(context, inner, 4);
        context.stroke();
      }
      if (view.scale > ANY_TEXT) this.text(context, index, view, ink, cost);
    });
    context.globalAlpha = 1;
  }

  private halo(
    context: CanvasRenderingContext2D,
    index: number,
    colour: string,
    by: number,
    width: number,
  ): void {
    const { x, y, width: w, height: h } = this.drawing.symbols[index]!;
    context.strokeStyle = colour;
    context.lineWidth = width;
    box(context, { x: x - by, y: y - by, width: w + 2 * by, height: h + 2 * by }, 6 + by);
    context.stroke();
  }

  /** A halo around what is selected, found, due or under the mouse. */
  private outline(context: CanvasRenderingContext2D, index: number, ink: Ink, marks: Marks): void {
    const { path } = this.drawing.schematic.symbols[index]!;
    if (marks.found.has(index)) this.halo(context, index, ink.warn, 3, 4);
    if (!path) return;
    if (marks.parted.has(path)) this.halo(context, index, ink.warn, 4, 3);
    if (marks.present === path) this.halo(context, index, ink.accent, 6, 1.5);
    if (marks.selected === path) this.halo(context, index, ink.accent, 2.5, 3);
    else if (marks.hover?.kind === "symbol" && marks.hover.index === index) {
      this.halo(context, index, ink.accent, 2, 1);
    }
  }

  private text(
    context: CanvasRenderingContext2D,
    index: number,
    view: View,
    ink: Ink,
    cost: number | null,
  ): void {
    const symbol = this.drawing.schematic.symbols[index]!;
    const { x, y, width, height } = this.drawing.symbols[index]!;
    const condition = symbol.role === "Condition";
    context.textAlign = "center";
    context.fillStyle = ink.ink;
    context.font = `600 12px ${FONT}`;
    const name = opens(symbol) ? `▸ ${symbol.name}` : symbol.name;
    if (view.scale < SMALL_TEXT) {
      this.name(context, index, name, view.scale);
      return;
    }
    context.fillText(name, x + width / 2, y + (condition ? 14 : 17), width - 6);
    context.font = `italic 10px ${FONT}`;
    context.fillStyle = ink.faint;
    if (!condition) context.fillText(symbol.kind, x + width / 2, y + 31, width - 6);
    context.font = `10px ${FONT}`;
    context.fillStyle = ink.ink;
    context.textAlign = "left";
    const half = width / 2 + 20;
    this.drawing.inputs[index]!.forEach(([px, py], pin) => {
      context.fillText(symbol.inputs[pin] ?? "", px + 7, py + 3, half);
    });
    context.textAlign = "right";
    this.drawing.outputs[index]!.forEach(([px, py], pin) => {
      context.fillText(symbol.outputs[pin]?.name ?? "", px - 7, py + 3, half);
    });
    if (cost !== null) {
      context.font = `600 10px ${FONT}`;
      context.textAlign = "center";
      context.fillText(`${cost.toPrecision(3)} µs`, x + width / 2, y + height + 12);
    }
  }

  /** A name in the middle of its box, as large as fits, where nothing else can be read. */
  private name(
    context: CanvasRenderingContext2D,
    index: number,
    name: string,
    scale: number,
  ): void {
    const { x, y, width, height } = this.drawing.symbols[index]!;
    const wide = (this.widths[index] ??= context.measureText(name).width);
    const size = Math.min(NAME / scale, (12 * (width - 6)) / wide, 0.8 * height);
    if (size * scale < 4) return;
    context.font = `600 ${size}px ${FONT}`;
    context.fillText(name, x + width / 2, y + height / 2 + 0.35 * size);
  }

  /** The part that a wire reads, above its end. */
  private labels(context: CanvasRenderingContext2D, seen: Rect, ink: Ink): void {
    context.font = `9px ${FONT}`;
    context.textAlign = "right";
    context.fillStyle = ink.faint;
    this.drawing.labels.forEach((label, index) => {
      const end = this.drawing.wires[index]!.at(-1);
      if (!label || !end) return;
      const room = { x: end[0] - 130, y: end[1] - 14, width: 130, height: 14 };
      if (meet(room, seen)) context.fillText(label, end[0] - 6, end[1] - 4);
    });
  }
}

function transform(context: CanvasRenderingContext2D, view: View, ratio: number): void {
  const scale = ratio * view.scale;
  context.setTransform(scale, 0, 0, scale, ratio * view.x, ratio * view.y);
}

/** The part of the world that a canvas shows. */
function seenBy(view: View, { width, height }: Size): Rect {
  const { x, y, scale } = view;
  return { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
}

/** The time of a block, or of all blocks in a frame [µs per step]. */
function heatOf(path: string, folded: boolean, heat: ReadonlyMap<string, number>): number | null {
  if (!folded) return heat.get(path) ?? null;
  let sum: number | null = null;
  for (const [block, cost] of heat) {
    const rest = block.startsWith(path) ? block[path.length] : "";
    if (rest === "." || rest === "[") sum = (sum ?? 0) + cost;
  }
  return sum;
}

function isOff(path: string, off: ReadonlySet<string>): boolean {
  if (!off.size || !path) return false;
  if (off.has(path)) return true;
  for (let at = path.lastIndexOf("."); at > 0; at = path.lastIndexOf(".", at - 1)) {
    if (off.has(path.slice(0, at))) return true;
  }
  return false;
}

function around(points: readonly Point[]): Rect {
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const [x, y] = [Math.min(...xs) - 4, Math.min(...ys) - 4];
  return { x, y, width: Math.max(...xs) + 4 - x, height: Math.max(...ys) + 4 - y };
}

function meet(a: Rect, b: Rect): boolean {
  return (
    a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height
  );
}

function box(context: CanvasRenderingContext2D, rect: Rect, radius: number): void {
  context.beginPath();
  context.roundRect(rect.x, rect.y, rect.width, rect.height, radius);
}
