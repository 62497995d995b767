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

/** Curves over time as a self-contained SVG; each unit has a scale of its own. */
export function svg(
  curves: readonly (Drawn & { ink: string; dash: number[] })[],
  from: number,
  to: number,
): string {
  const [width, height, left, top] = [900, 320, 10, 12];
  const units = [...new Set(curves.map((curve) => curve.unit))];
  const right = width - 10;
  const x0 = left + 62 * units.length;
  const { t, columns } = sampled(curves, from, to, right - x0);
  const x = (time: number) => x0 + ((time - from) / (to - from || 1)) * (right - x0);
  const out: string[] = [];
  const text = (px: number, py: number, anchor: string, words: string) =>
    out.push(`<text x="${px}" y="${py}" text-anchor="${anchor}">${escaped(words)}</text>`);
  units.forEach((unit, u) => {
    const of = columns.filter((_, c) => curves[c]!.unit === unit).flat();
    const finite = of.filter((value): value is number => value !== null);
    const least = finite.reduce((a, b) => Math.min(a, b), Infinity);
    const most = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(least <= most)) return;
    const [low, high] = least === most ? [least - 1, most + 1] : [least, most];
    const y = (value: number) => top + height - ((value - low) / (high - low)) * height;
    const edge = x0 - 62 * u - 6;
    for (let i = 0; i <= 4; i++) {
      const value = low + ((high - low) * i) / 4;
      text(edge, y(value) + 4, "end", number(value, 4));
      if (u === 0) out.push(`<path d="M${x0} ${y(value)}H${right}" stroke="#d5dbe2"/>`);
    }
    text(edge, top + height + 18, "end", unit ? `[${unit}]` : "");
    columns.forEach((column, c) => {
      if (curves[c]!.unit !== unit) return;
      const points = column
        .map((value, k) => (value === null ? "" : `${x(t[k]!).toFixed(1)},${y(value).toFixed(1)}`))
        .filter(Boolean);
      const dash = curves[c]!.dash.join(" ");
      out.push(
        `<polyline fill="none" stroke="${curves[c]!.ink}" stroke-width="1.3" ` +
          `stroke-dasharray="${dash}" points="${points.join(" ")}"/>`,
      );
    });
  });
  for (let i = 0; i <= 5; i++) {
    const time = from + ((to - from) * i) / 5;
    text(
      x(time),
      top + height + 18,
      i === 5 ? "end" : "middle",
      number(time, 4) + (i === 5 ? " s" : ""),
    );
  }
  curves.forEach((curve, c) => {
    const y = top + height + 40 + 16 * c;
    out.push(
      `<path d="M${left} ${y - 4}h18" stroke="${curve.ink}" stroke-width="2" ` +
        `stroke-dasharray="${curve.dash.join(" ")}"/>`,
    );
    text(left + 26, y, "start", curve.unit ? `${curve.label} [${curve.unit}]` : curve.label);
  });
  const all = top + height + 46 + 16 * curves.length;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${all}" ` +
    `viewBox="0 0 ${width} ${all}" font-family="Helvetica, Arial, sans-serif" font-size="11" ` +
    `fill="#1b2430"><rect width="${width}" height="${all}" fill="#fff"/>${out.join("\n")}</svg>\n`
  );
}
