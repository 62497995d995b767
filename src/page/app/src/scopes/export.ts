// What a scope shows, as files.

import { number } from "../ui/format";
import { sampled } from "./decimate";
import type { Drawn } from "./scopes";
import { lower, upper } from "./series";

export function save(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** All samples in a window, a row for each time; what has no sample at a time stays empty. */
export function csv(curves: readonly Drawn[], from: number, to: number): string {
  const head = curves.map(({ label, unit }) => quoted(unit ? `${label} [${unit}]` : label));
  const times = new Set<number>();
  for (const { series } of curves) {
    const end = upper(series.t, series.rows, to);
    for (let i = lower(series.t, series.rows, from); i < end; i++) times.add(series.t[i]!);
  }
  const at = curves.map(({ series }) => lower(series.t, series.rows, from));
  const rows = [...times]
    .sort((a, b) => a - b)
    .map((t) => {
      const cells = curves.map(({ series, leaf }, c) => {
        const i = at[c]!;
        if (i >= series.rows || series.t[i] !== t) return "";
        at[c] = i + 1;
        return String(series.columns[leaf]![i]);
      });
      return [String(t), ...cells].join();
    });
  return [["t [s]", ...head].join(), ...rows, ""].join("\n");
}

/** A scope's canvas on its ground, with a legend below. */
export async function png(
  plot: HTMLCanvasElement,
  curves: readonly { label: string; unit: string; colour: string }[],
  ground: string,
  ink: string,
): Promise<Blob | null> {
  const ratio = devicePixelRatio || 1;
  const line = 16 * ratio;
  const canvas = document.createElement("canvas");
  canvas.width = plot.width;
  canvas.height = plot.height + line * (curves.length + 1);
  const context = canvas.getContext("2d")!;
  context.fillStyle = ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(plot, 0, 0);
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  curves.forEach(({ label, unit, colour }, i) => {
    const y = plot.height + line * (i + 0.9);
    context.fillStyle = colour;
    context.fillRect(10 * ratio, y - 4 * ratio, 14 * ratio, 2 * ratio);
    context.fillStyle = ink;
    context.fillText(unit ? `${label} [${unit}]` : label, 30 * ratio, y);
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

/** A line as it is exported: what a scope shows of a curve. */
export interface Line {
  label: string;
  unit: string;
  ink: string;
  dash: readonly number[];
  xs: readonly number[];
  ys: readonly (number | null)[];
}

/** What lines are over: the axis across, and its range. */
export interface Across {
  label: string;
  range: readonly [number, number];
}

const named = ({ label, unit }: { label: string; unit: string }) =>
  unit ? `${label} [${unit}]` : label;

/** Points of lines, a column across and one for its values; lines over the same share the first. */
export function table(lines: readonly Line[], across: string): string {
  const first = lines[0];
  if (!first) return "";
  const same = lines.every(
    ({ xs }) => xs.length === first.xs.length && xs.every((x, i) => x === first.xs[i]),
  );
  const columns = lines.flatMap((line, i): [string, readonly (number | null)[]][] => {
    const own: [string, readonly (number | null)[]] = [named(line), line.ys];
    return same && i > 0 ? [own] : [[across, line.xs], own];
  });
  const height = Math.max(...columns.map(([, values]) => values.length));
  const rows = Array.from({ length: height }, (_, row) =>
    columns.map(([, values]) => values[row] ?? "").join(),
  );
  return [columns.map(([head]) => quoted(head)).join(), ...rows, ""].join("\n");
}

/** Width and height of a picture, its edges [px]. */
const [WIDTH, HEIGHT, LEFT, TOP] = [900, 320, 10, 12];

/** Curves in a window, thinned to the picture without losing spikes. */
export function overTime(
  curves: readonly (Drawn & { ink: string; dash: number[] })[],
  from: number,
  to: number,
): Line[] {
  const { t, columns } = sampled(curves, from, to, WIDTH - 10 - LEFT - 62);
  return curves.map((curve, c) => ({ ...curve, xs: t, ys: columns[c]! }));
}

/** Lines as a self-contained SVG; each unit has a scale of its own. Bars stand on zero. */
export function svg(lines: readonly Line[], across: Across, bars = false): string {
  const units = [...new Set(lines.map((line) => line.unit))];
  const right = WIDTH - 10;
  const x0 = LEFT + 62 * units.length;
  const [from, to] = across.range;
  const x = (value: number) => x0 + ((value - from) / (to - from || 1)) * (right - x0);
  const out: string[] = [];
  const text = (px: number, py: number, anchor: string, words: string) =>
    out.push(`<text x="${px}" y="${py}" text-anchor="${anchor}">${escaped(words)}</text>`);
  units.forEach((unit, u) => {
    const of = lines.filter((line) => line.unit === unit).flatMap((line) => line.ys);
    const finite = of.filter((value): value is number => value !== null);
    const least = finite.reduce((a, b) => Math.min(a, b), bars ? 0 : Infinity);
    const most = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(least <= most)) return;
    const [low, high] = least === most ? [least - 1, most + 1] : [least, most];
    const y = (value: number) => TOP + HEIGHT - ((value - low) / (high - low)) * HEIGHT;
    const edge = x0 - 62 * u - 6;
    for (let i = 0; i <= 4; i++) {
      const value = low + ((high - low) * i) / 4;
      text(edge, y(value) + 4, "end", number(value, 4));
      if (u === 0) out.push(`<path d="M${x0} ${y(value)}H${right}" stroke="#d5dbe2"/>`);
    }
    text(edge, TOP + HEIGHT + 18, "end", unit ? `[${unit}]` : "");
    for (const line of lines.filter((one) => one.unit === unit)) {
      const points = line.ys.map((value, k) =>
        value === null ? "" : `${x(line.xs[k]!).toFixed(1)},${y(value).toFixed(1)}`,
      );
      if (bars) {
        const width = (right - x0) / Math.max(1, line.xs.length);
        const path = points.filter(Boolean).map((point) => `M${point.replace(",", " ")}V${y(0)}`);
        out.push(`<path d="${path.join("")}" stroke="${line.ink}" stroke-width="${width - 1}"/>`);
        continue;
      }
      out.push(
        `<polyline fill="none" stroke="${line.ink}" stroke-width="1.3" ` +
          `stroke-dasharray="${line.dash.join(" ")}" points="${points.filter(Boolean).join(" ")}"/>`,
      );
    }
  });
  for (let i = 0; i <= 5; i++) {
    const value = from + ((to - from) * i) / 5;
    text(x(value), TOP + HEIGHT + 18, i === 5 ? "end" : "middle", number(value, 4));
  }
  text(right, TOP + HEIGHT + 34, "end", across.label);
  lines.forEach((line, c) => {
    const y = TOP + HEIGHT + 40 + 16 * c;
    out.push(
      `<path d="M${LEFT} ${y - 4}h18" stroke="${line.ink}" stroke-width="2" ` +
        `stroke-dasharray="${line.dash.join(" ")}"/>`,
    );
    text(LEFT + 26, y, "start", named(line));
  });
  const all = TOP + HEIGHT + 46 + 16 * lines.length;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${all}" ` +
    `viewBox="0 0 ${WIDTH} ${all}" font-family="Helvetica, Arial, sans-serif" font-size="11" ` +
    `fill="#1b2430"><rect width="${WIDTH}" height="${all}" fill="#fff"/>${out.join("\n")}</svg>\n`
  );
}
