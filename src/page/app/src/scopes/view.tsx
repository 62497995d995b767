// The scopes, one below the other.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as app from "../app";
import { number } from "../ui/format";
import { icons } from "../ui/icons";
import { css, curveColour, dark } from "../ui/theme";
import * as files from "./export";
import { dashOf, Plot } from "./plot";
import {
  addToScope,
  change,
  closeScope,
  current,
  curvesOf,
  type Drawn,
  type Mode,
  removeTrace,
  type Scope,
  scopes,
  valueAt,
  valueText,
  windowOf,
} from "./scopes";
import { seen } from "./seen";

const MODES: [Mode, string][] = [
  ["time", "time"],
  ["difference", "difference"],
  ["phase", "phase plot"],
  ["histogram", "histogram"],
  ["spectrum", "spectrum"],
];
/** The longest pause between two drawings of a difference, spectrum or histogram [ms]. */
const SLOW = 200;

/** The time under the mouse, in all scopes. */
const hovered = signal<number | null>(null);

export function ScopesView() {
  const all = scopes.value;
  return (
    <section class="pane scopes" aria-label="Scopes">
      {all.length === 0 && <Empty />}
      {all.map((scope) => (
        <ScopeView key={scope.id} scope={scope} alone={all.length === 1} />
      ))}
    </section>
  );
}

function Empty() {
  const signals = app.model.value?.signals ?? [];
  return (
    <div class="empty">
      <p>Click a wire of the diagram to see it here, or choose what the run records:</p>
      <ul class="chips">
        {signals.slice(0, 40).map(({ path, unit, type }) => (
          <li key={path}>
            <button title={`${type} ${unit ?? ""}`} onClick={() => void addToScope(path, false)}>
              {path}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function ScopeView({ scope, alone }: { scope: Scope; alone: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(scope);
  latest.current = scope;
  const [stamp, setStamp] = useState(0);

  useEffect(() => {
    const made = new Plot(host.current!, {
      range: (range) => change(scope.id, { range, follow: null }),
      cursor: (t, second) => {
        const [a] = latest.current.cursors;
        change(scope.id, { cursors: second && a !== undefined ? [a, t] : [t] });
      },
      hover: (t) => (hovered.value = t),
      marks: () => ({ t: app.state.value?.t ?? null, cursors: latest.current.cursors }),
    });
    plot.current = made;
    let due = 0;
    let last = 0;
    const paint = () => {
      due = 0;
      const one = scopes.value.find(({ id }) => id === scope.id);
      if (!one) return;
      last = performance.now();
      const curves = curvesOf(one).filter((curve) => curve.on);
      made.draw(one.mode, curves, windowOf(one, curves), dark.value ? "dark" : "light");
      setStamp((count) => count + 1);
    };
    const request = () => {
      if (due) return;
      const one = latest.current;
      const wait = one.mode === "time" ? 0 : Math.max(0, last + SLOW - performance.now());
      due = window.setTimeout(() => requestAnimationFrame(paint), wait);
    };
    const observer = new ResizeObserver(request);
    observer.observe(host.current!);
    const stop = effect(() => {
      void [app.arrived.value, app.state.value, dark.value, scopes.value, app.hidden.value];
      void app.models.value;
      request();
    });
    return () => {
      stop();
      clearTimeout(due);
      observer.disconnect();
      made.destroy();
    };
  }, [scope.id]);

  const curves = curvesOf(scope);
  const shown = curves.filter((curve) => curve.on);
  void stamp;
  const window_ = windowOf(scope, shown);
  const chosen = current.value === scope.id;
  const set = (by: Partial<Scope>) => change(scope.id, by);
  const zoomed = scope.range !== null || scope.follow !== null;

  const key = (event: KeyboardEvent) => {
    const [from, to] = window_;
    const [a = (from + to) / 2, b] = scope.cursors;
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const zoom = { "+": 0.7, "=": 0.7, "-": 1 / 0.7 }[event.key];
    if (move !== undefined) {
      const by = (move * (to - from)) / 100;
      set({
        cursors: event.shiftKey ? [a, (b ?? a) + by] : [a + by, ...(b === undefined ? [] : [b])],
      });
    } else if (zoom !== undefined) {
      set({ range: [a - (a - from) * zoom, a + (to - a) * zoom], follow: null });
    } else if (event.key === "PageUp" || event.key === "PageDown") {
      const by = ((event.key === "PageUp" ? -1 : 1) * (to - from)) / 4;
      set({ range: [from + by, to + by], follow: null });
    } else if (event.key === "0") set({ range: null, follow: null });
    else if (event.key === "Enter") void app.attempt("seek", { t: a });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const exportAs = async (kind: string) => {
    const name = `${app.model.value?.name ?? "scope"}-${scope.paths[0] ?? ""}.${kind}`;
    const inked = shown.map((curve) => ({
      ...curve,
      ink: curveColour(curve.colour),
      dash: dashOf(curve.source),
    }));
    const other = seen(scope.mode, inked, window_);
    if (kind === "csv") {
      const text = other ? files.table(other.lines, other.across.label) : null;
      files.save(name, text ?? files.csv(shown, ...window_), "text/csv");
    } else if (kind === "svg") {
      const text = other
        ? files.svg(other.lines, other.across, scope.mode === "histogram")
        : files.svg(files.overTime(inked, ...window_), { label: "t [s]", range: window_ });
      files.save(name, text, "image/svg+xml");
    } else {
      const canvas = plot.current?.canvas();
      if (!canvas) return;
      const legend = shown.map((curve) => ({ ...curve, colour: curveColour(curve.colour) }));
      const blob = await files.png(canvas, legend, css("--pane"), css("--ink"));
      if (blob) files.save(name, blob, "image/png");
    }
  };

  return (
    <article
      class={`scope${chosen && !alone ? " chosen" : ""}`}
      aria-label={`Scope of ${scope.paths.join(", ")}`}
      onPointerDown={() => (current.value = scope.id)}
    >
      <div class="tools">
        <select
          aria-label="What is drawn"
          value={scope.mode}
          onChange={(event) => set({ mode: event.currentTarget.value as Mode })}
        >
          {MODES.map(([mode, label]) => (
            <option
              key={mode}
              value={mode}
              disabled={mode === "difference" && app.sources.value.length < 2}
            >
              {label}
            </option>
          ))}
        </select>
        {scope.mode === "difference" && <Pair scope={scope} />}
        <button
          aria-pressed={scope.follow !== null}
          title="Follow the newest second; the mouse wheel changes how much is shown"
          onClick={() => set({ follow: scope.follow === null ? 1 : null, range: null })}
        >
          follow
        </button>
        {scope.follow !== null && (
          <label class="unit">
            <input
              type="number"
              min="0.001"
              step="any"
              value={scope.follow}
              aria-label="Seconds shown"
              onChange={(event) =>
                set({ follow: Math.max(1e-3, event.currentTarget.valueAsNumber || 1) })
              }
            />
            s
          </label>
        )}
        <button
          disabled={!zoomed}
          title="Show all (double click)"
          onClick={() => set({ range: null, follow: null })}
        >
          all
        </button>
        <Cursors scope={scope} curves={shown} />
        <span class="spring" />
        {["png", "svg", "csv"].map((kind) => (
          <button
            key={kind}
            title={`Export what is seen as ${kind.toUpperCase()}`}
            onClick={() => void exportAs(kind)}
          >
            {kind}
          </button>
        ))}
        <button aria-label="Close the scope" title="Close" onClick={() => closeScope(scope.id)}>
          {icons.close}
        </button>
      </div>
      <div
        class="plot"
        ref={host}
        role="img"
        tabIndex={0}
        aria-label={
          `Curves of ${scope.paths.join(", ")}. ` +
          "Arrow keys move a cursor, plus and minus zoom, page up and down pan, 0 shows all"
        }
        onKeyDown={key}
      />
      <Key scope={scope} curves={curves} />
    </article>
  );
}

function Pair({ scope }: { scope: Scope }) {
  const choose = (index: 0 | 1) => (
    <select
      aria-label={index ? "Subtracted source" : "Source"}
      value={scope.pair[index]}
      onChange={(event) => {
        const pair: [number, number] = [scope.pair[0], scope.pair[1]];
        pair[index] = Number(event.currentTarget.value);
        change(scope.id, { pair });
      }}
    >
      {app.sources.value.map((source) => (
        <option key={source} value={source}>
          {app.sourceName(source)}
        </option>
      ))}
    </select>
  );
  return (
    <>
      {choose(0)} − {choose(1)}
    </>
  );
}

function Cursors({ scope, curves }: { scope: Scope; curves: readonly Drawn[] }) {
  const [a, b] = scope.cursors;
  if (a === undefined) return null;
  const first = curves[0];
  const change_ =
    first && b !== undefined ? (valueAt(first, b) ?? NaN) - (valueAt(first, a) ?? NaN) : NaN;
  return (
    <span class="cursors num">
      A {number(a)} s
      {b !== undefined && (
        <>
          {" "}
          B {number(b)} s, Δt {number(b - a)} s
          {first && (
            <>
              , Δ {number(change_)} {first.unit}
            </>
          )}
        </>
      )}
      <button title="Go to this time" onClick={() => void app.attempt("seek", { t: a })}>
        go
      </button>
      <button
        aria-label="Remove cursors"
        title="Remove cursors"
        onClick={() => change(scope.id, { cursors: [] })}
      >
        {icons.close}
      </button>
    </span>
  );
}

function Key({ scope, curves }: { scope: Scope; curves: readonly Drawn[] }) {
  const t = hovered.value ?? scope.cursors[0] ?? app.state.value?.t ?? Infinity;
  const flip = (curve: Drawn) => {
    const switched = new Set(scope.switched);
    if (!switched.delete(curve.key)) switched.add(curve.key);
    change(scope.id, { switched });
  };
  const thinned = curves.some((curve) => curve.thinned);
  const off = curves.filter((curve) => !curve.on).length;
  return (
    <ul class="key" aria-label="Curves">
      {curves.map((curve) => (
        <li key={curve.key} class={curve.on ? "" : "off"}>
          <button
            aria-pressed={curve.on}
            title={`${curve.label} [${curve.unit}]`}
            onClick={() => flip(curve)}
          >
            <svg width="16" height="6" aria-hidden="true">
              <path
                d="M0 3H16"
                stroke={curveColour(curve.colour)}
                stroke-width="2"
                stroke-dasharray={dashOf(curve.source).join(" ")}
              />
            </svg>
            <span class="label">{curve.short}</span>
            <output class="num">{valueText(curve, t)}</output>
            <span class="faint unit">{curve.unit}</span>
          </button>
        </li>
      ))}
      {off > 0 && (
        <li class="faint note">
          {off} of {curves.length} curves are off: click one to see it
        </li>
      )}
      {thinned && <li class="faint note">older samples are extremes of several</li>}
      {scope.paths.map((path) => (
        <li key={path} class="remove">
          <button title={`Remove ${path}`} onClick={() => removeTrace(scope.id, path)}>
            {icons.close} <span class="label">{path}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
