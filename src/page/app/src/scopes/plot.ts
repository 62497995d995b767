// A scope's curves as a uPlot.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { number } from "../ui/format";
import { css, curveColour } from "../ui/theme";
import { sampled } from "./decimate";
import type { Drawn, Mode } from "./scopes";
import { BINS, phase } from "./seen";
import { histogram, spectrum } from "./statistics";

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
export const dashOf = (source: number): number[] => DASHES[source % DASHES.length]!;

/** A range with room at both ends, also for what does not change. */
const roomy = (_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax => {
  const [from, to] = [min ?? 0, max ?? 1];
  const room = 0.05 * (to - from) || 0.1 * Math.abs(from) || 1;
  return [from - room, to + room];
};

/** Bars stand on zero, and the outer ones are whole. */
const COUNTS: uPlot.Scales = {
  x: {
    time: false,
    range: (_, min, max) => {
      const half = (max - min) / (2 * (BINS - 1)) || 1;
      return [min - half, max + half];
    },
  },
  y: { range: (_, __, max) => [0, 1.05 * (max || 1)] },
};

export interface Handlers {
  range(range: [number, number] | null): void;
  cursor(t: number, second: boolean): void;
  hover(t: number | null): void;
  marks(): { t: number | null; cursors: readonly number[] };
}

const FONT = '11px system-ui, "Segoe UI", Roboto, sans-serif';

function axis(scale: string, label: string, side: number): uPlot.Axis {
  const grid = { stroke: css("--grid"), width: 1 };
  return {
    scale,
    side,
    label: label || undefined,
    labelSize: 16,
    labelFont: FONT,
    font: FONT,
    stroke: css("--faint"),
    grid: side === 1 ? { show: false } : grid,
    ticks: { stroke: css("--grid"), width: 1, size: 4 },
    size:
      side % 2 ? (_, values) => 14 + 6.2 * Math.max(3, ...(values ?? []).map((v) => v.length)) : 26,
    gap: 3,
    values: (_, splits) => splits.map((value) => number(value, 5)),
  };
}

/** The scale of a unit. */
const scaleOf = (unit: string) => `y ${unit}`;

export class Plot {
  private plot: uPlot | null = null;
  private shape = "";
  private readonly key: uPlot.SyncPubSub;

  constructor(
    private readonly host: HTMLElement,
    private readonly handlers: Handlers,
  ) {
    this.key = uPlot.sync("scopes");
    host.addEventListener("wheel", this.wheel, { passive: false });
  }

  destroy(): void {
    this.host.removeEventListener("wheel", this.wheel);
    this.plot?.destroy();
    this.plot = null;
  }

  canvas(): HTMLCanvasElement | null {
    return this.plot?.ctx.canvas ?? null;
  }

  /** Draws curves that are on, in a window. */
  draw(
    mode: Mode,
    curves: readonly Drawn[],
    window: readonly [number, number],
    theme: string,
  ): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width < 40 || height < 40) return;
    const parts = curves.map(({ key, unit, label }) => `${key} ${unit} ${label}`);
    const shape = `${mode} ${theme} ${parts.join("|")}`;
    const data = this.data(mode, curves, window, width);
    if (!this.plot || shape !== this.shape) {
      this.plot?.destroy();
      this.shape = shape;
      this.plot = new uPlot(this.options(mode, curves, width, height), data, this.host);
    } else if (this.plot.width !== width || this.plot.height !== height) {
      this.plot.setSize({ width, height });
    }
    const plot = this.plot;
    const timed = mode === "time" || mode === "difference";
    plot.setData(data, !timed);
    if (!timed) return;
    const { min, max } = plot.scales.x!;
    plot.setScale("x", { min: window[0], max: window[1] });
    // A scale that stays as it is draws nothing anew.
    if (min === window[0] && max === window[1]) plot.redraw(true, true);
  }

  private data(
    mode: Mode,
    curves: readonly Drawn[],
    [from, to]: readonly [number, number],
    width: number,
  ): uPlot.AlignedData {
    const first = curves[0];
    if (!first) return [[]];
    if (mode === "histogram") {
      const { centres, counts } = histogram(first.series, first.leaf, from, to, BINS);
      return [centres, counts];
    }
    if (mode === "spectrum") {
      const spectra = curves.map(({ series, leaf }) => spectrum(series, leaf, from, to));
      const tables = spectra.map(({ frequencies, amplitudes }): uPlot.AlignedData => [
        frequencies,
        amplitudes,
      ]);
      return tables.length === 1 ? tables[0]! : uPlot.join(tables);
    }
    if (mode === "phase") {
      const pairs = curves.slice(1).map((curve) => phase(first, curve, from, to, 20 * width));
      return [null, ...pairs] as unknown as uPlot.AlignedData;
    }
    // A little less than uPlot's own thinning begins at, which rounds to pixels.
    const across = this.plot ? this.plot.bbox.width / (devicePixelRatio || 1) : width - 100;
    const { t, columns } = sampled(curves, from, to, Math.max(100, Math.floor(0.95 * across)));
    return [t, ...columns];
  }

  private options(
    mode: Mode,
    curves: readonly Drawn[],
    width: number,
    height: number,
  ): uPlot.Options {
    const timed = mode === "time" || mode === "difference";
    const units = [...new Set(curves.map((curve) => curve.unit))];
    const style = (curve: Drawn): uPlot.Series => ({
      label: curve.label,
      stroke: curveColour(curve.colour),
      width: 1.25,
      dash: dashOf(curve.source),
      spanGaps: true,
      // Points are fewer than pixels' quarters already, and steep lines without steps.
      pxAlign: 0,
      points: { show: false },
      scale: timed ? scaleOf(curve.unit) : "y",
    });
    const base = {
      width,
      height,
      legend: { show: false },
      cursor: {
        sync: timed ? { key: this.key.key, scales: ["x", null] as [string, null] } : undefined,
        drag: { x: timed, y: false, setScale: false },
        points: { size: 5 },
      },
      hooks: this.hooks(timed),
    };
    if (mode === "phase") {
      const [x, y] = [curves[0], curves[1]];
      const shown = curves.slice(1).map((curve): uPlot.Series => ({
        ...style(curve),
        facets: [
          { scale: "x", auto: true },
          { scale: "y", auto: true },
        ],
        paths: line,
      }));
      const name = (curve?: Drawn) =>
        curve ? `${curve.label}${curve.unit && ` [${curve.unit}]`}` : "";
      return {
        ...base,
        mode: 2,
        scales: { x: { time: false, range: roomy }, y: { range: roomy } },
        series: [{}, ...shown],
        axes: [axis("x", name(x), 2), axis("y", curves.length > 2 ? (y?.unit ?? "") : name(y), 3)],
      };
    }
    if (!timed) {
      const unit = curves[0]?.unit ?? "";
      const shown = mode === "histogram" ? curves.slice(0, 1) : curves;
      const bars = uPlot.paths.bars!({ size: [1, 100], gap: 1 });
      return {
        ...base,
        scales: mode === "histogram" ? COUNTS : { x: { time: false }, y: {} },
        series: [
          {},
          ...shown.map((curve) => ({
            ...style(curve),
            ...(mode === "histogram"
              ? { paths: bars, fill: `${curveColour(curve.colour)}66` }
              : {}),
          })),
        ],
        axes: [
          axis("x", mode === "histogram" ? unit : "frequency [Hz]", 2),
          axis("y", mode === "histogram" ? "samples" : `amplitude${unit && ` [${unit}]`}`, 3),
        ],
      };
    }
    return {
      ...base,
      scales: {
        x: { time: false, auto: false },
        ...Object.fromEntries(units.map((u) => [scaleOf(u), {}])),
      },
      series: [{}, ...curves.map(style)],
      axes: [
        axis("x", "", 2),
        ...units.map((unit, i) => axis(scaleOf(unit), unit, i === 0 ? 3 : 1)),
      ],
    };
  }

  private hooks(timed: boolean): uPlot.Hooks.Arrays {
    if (!timed) return {};
    return {
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          const from = u.posToVal(u.select.left, "x");
          const to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          this.handlers.range([from, to]);
        },
      ],
      setCursor: [
        (u) => {
          const { left } = u.cursor;
          this.handlers.hover(left === undefined || left < 0 ? null : u.posToVal(left, "x"));
        },
      ],
      draw: [(u) => this.marks(u)],
      ready: [(u) => this.mouse(u)],
    };
  }

  /** Lines at the present time and at cursors. */
  private marks(u: uPlot): void {
    const { t, cursors } = this.handlers.marks();
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio || 1;
    const vertical = (time: number, colour: string, dash: number[], name: string) => {
      const x = u.valToPos(time, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.save();
      ctx.strokeStyle = colour;
      ctx.fillStyle = colour;
      ctx.lineWidth = ratio;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = `${10 * ratio}px system-ui, sans-serif`;
      ctx.fillText(name, x + 3 * ratio, bbox.top + 10 * ratio);
      ctx.restore();
    };
    if (t !== null) vertical(t, css("--accent"), [], "");
    cursors.forEach((time, i) => vertical(time, css("--ink"), [4, 3], "AB"[i] ?? ""));
  }

  /** Clicks set cursors, dragging with shift pans, double clicks show all. */
  private mouse(u: uPlot): void {
    let press: { x: number; min: number; max: number; pans: boolean } | null = null;
    u.over.addEventListener(
      "mousedown",
      (event) => {
        const { min, max } = u.scales.x!;
        press = {
          x: event.clientX,
          min: min ?? 0,
          max: max ?? 1,
          pans: event.shiftKey || event.button === 1,
        };
        if (press.pans) {
          event.stopImmediatePropagation();
          event.preventDefault();
        }
      },
      true,
    );
    u.over.addEventListener("mousemove", (event) => {
      if (!press?.pans) return;
      const by = ((event.clientX - press.x) / u.over.clientWidth) * (press.max - press.min);
      this.handlers.range([press.min - by, press.max - by]);
    });
    u.over.addEventListener("mouseup", (event) => {
      const moved = press ? Math.abs(event.clientX - press.x) : 9;
      const { left } = u.cursor;
      if (moved < 4 && left !== undefined && left >= 0 && event.detail === 1) {
        this.handlers.cursor(u.posToVal(left, "x"), event.shiftKey);
      }
      press = null;
    });
    u.over.addEventListener("mouseleave", () => (press = null));
    u.over.addEventListener("dblclick", () => this.handlers.range(null));
  }

  private readonly wheel = (event: WheelEvent): void => {
    const u = this.plot;
    const { min, max } = u?.scales.x ?? {};
    if (!u || min == null || max == null || u.cursor.left === undefined || u.cursor.left < 0)
      return;
    if (this.shape.startsWith("phase") || this.shape.startsWith("histogram")) return;
    if (this.shape.startsWith("spectrum")) return;
    event.preventDefault();
    const at = u.posToVal(u.cursor.left, "x");
    const factor = Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.0016));
    this.handlers.range([at - (at - min) * factor, at + (max - at) * factor]);
  };
}

/** A line through points in their order, which need not be that of x. */
const line: uPlot.Series.PathBuilder = (u, index) => {
  const [xs, ys] = u.data[index] as unknown as [number[], number[]];
  const stroke = new Path2D();
  xs.forEach((x, i) => {
    const [px, py] = [u.valToPos(x, "x", true), u.valToPos(ys[i]!, "y", true)];
    if (i) stroke.lineTo(px, py);
    else stroke.moveTo(px, py);
  });
  return { stroke, fill: null, clip: null, band: null, flags: 0 };
};
