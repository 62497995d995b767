// What a scope shows that is not over time, as lines.

import type { Across, Line } from "./export";
import type { Drawn, Mode } from "./scopes";
import { lower, upper } from "./series";
import { histogram, spectrum } from "./statistics";

export const BINS = 60;

/** Values of two curves at the times of the first, at most `most` of them. */
export function phase(
  x: Drawn,
  y: Drawn,
  from: number,
  to: number,
  most: number,
): [number[], number[]] {
  const [a, b] = [lower(x.series.t, x.series.rows, from), upper(x.series.t, x.series.rows, to)];
  const stride = Math.max(1, Math.floor((b - a) / most));
  const [xs, ys]: [number[], number[]] = [[], []];
  for (let i = a; i < b; i += stride) {
    const j = x.series === y.series ? i : y.series.at(x.series.t[i]! + 1e-12);
    if (j < 0) continue;
    const [vx, vy] = [x.series.columns[x.leaf]![i]!, y.series.columns[y.leaf]![j]!];
    if (!Number.isFinite(vx) || !Number.isFinite(vy)) continue;
    xs.push(vx);
    ys.push(vy);
  }
  return [xs, ys];
}

const named = ({ label, unit }: Drawn) => (unit ? `${label} [${unit}]` : label);

/** The lines of a mode, and what they are over; none over time. */
export function seen(
  mode: Mode,
  curves: readonly (Drawn & { ink: string; dash: number[] })[],
  [from, to]: readonly [number, number],
): { lines: Line[]; across: Across } | null {
  const first = curves[0];
  if (!first || mode === "time" || mode === "difference") return null;
  const whole = (lines: Line[], label: string) => {
    const all = lines.flatMap(({ xs }) => xs);
    const least = all.reduce((a, b) => Math.min(a, b), Infinity);
    const most = all.reduce((a, b) => Math.max(a, b), -Infinity);
    return { lines, across: { label, range: [least, most] as const } };
  };
  if (mode === "histogram") {
    const { centres: xs, counts: ys } = histogram(first.series, first.leaf, from, to, BINS);
    const { label, ink, dash } = first;
    return whole([{ label: `samples of ${label}`, unit: "", ink, dash, xs, ys }], named(first));
  }
  if (mode === "spectrum") {
    const lines = curves.map((curve): Line => {
      const found = spectrum(curve.series, curve.leaf, from, to);
      return { ...curve, xs: found.frequencies, ys: found.amplitudes };
    });
    return whole(lines, "frequency [Hz]");
  }
  const lines = curves.slice(1).map((curve): Line => {
    const [xs, ys] = phase(first, curve, from, to, Infinity);
    return { ...curve, xs, ys };
  });
  return whole(lines, named(first));
}
