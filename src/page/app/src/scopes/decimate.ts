// What a scope draws: points as they are while they are few, else four for each pixel.

import { lower, Series, upper } from "./series";

/** A curve: a column of a signal, or a function of columns. */
export interface Curve {
  series: Series;
  leaf: number;
}

export type Column = (number | null)[];

/** A common time axis and a column for each curve, from `from` to `to` [s] on `pixels` pixels. */
export function sampled(
  curves: readonly Curve[],
  from: number,
  to: number,
  pixels: number,
): { t: number[]; columns: Column[] } {
  let total = 0;
  const seen = new Set<Series>();
  for (const { series } of curves) {
    if (seen.has(series)) continue;
    seen.add(series);
    const [a, b] = span(series, from, to);
    total += b - a;
  }
  return total <= 6 * pixels ? exact(curves, from, to) : extremal(curves, from, to, pixels);
}

/** Rows in the window, and one more at either side, so that lines reach the edge. */
function span(series: Series, from: number, to: number): [number, number] {
  const a = Math.max(0, lower(series.t, series.rows, from) - 1);
  const b = Math.min(series.rows, upper(series.t, series.rows, to) + 1);
  return [a, Math.max(a, b)];
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

function exact(curves: readonly Curve[], from: number, to: number) {
  const times = new Set<number>();
  for (const { series } of curves) {
    const [a, b] = span(series, from, to);
    for (let i = a; i < b; i++) times.add(series.t[i]!);
  }
  const t = [...times].sort((a, b) => a - b);
  const columns = curves.map(({ series, leaf }) => {
    const column: Column = new Array<number | null>(t.length).fill(null);
    const values = series.columns[leaf]!;
    let [i, end] = span(series, from, to);
    for (let k = 0; k < t.length && i < end; k++) {
      if (series.t[i] === t[k]) column[k] = finite(values[i++]!);
    }
    return column;
  });
  return { t, columns };
}

/**
 * The first, least, greatest and last value of each pixel, which give the same picture as all
 * (Jugel, Jerzak, Hackenbroich, Markl, *M4: a visualization-oriented time series data
 * aggregation*, 2014). First and last stand at the times of the signal with the most samples.
 */
function extremal(curves: readonly Curve[], from: number, to: number, pixels: number) {
  const width = (to - from) / pixels;
  const t = times(curves, from, to, pixels);
  const columns = curves.map(({ series, leaf }) => {
    const column: Column = new Array<number | null>(t.length).fill(null);
    const values = series.columns[leaf]!;
    let i = lower(series.t, series.rows, from);
    for (let pixel = 0; pixel < pixels; pixel++) {
      const end = lower(series.t, series.rows, from + (pixel + 1) * width);
      if (end > i) {
        const [least, most] = series.range(leaf, i, end);
        const [first, last] = [values[i]!, values[end - 1]!];
        const rises = first <= last;
        column[4 * pixel] = finite(first);
        column[4 * pixel + 3] = finite(last);
        // What rises or falls all the time is a straight line.
        const [second, third] = rises ? [least, most] : [most, least];
        if (second !== first && second !== last) column[4 * pixel + 1] = finite(second);
        if (third !== first && third !== last) column[4 * pixel + 2] = finite(third);
      }
      i = Math.max(i, end);
    }
    return column;
  });
  return { t, columns };
}

/** Four times for each pixel, rising. */
function times(curves: readonly Curve[], from: number, to: number, pixels: number): number[] {
  const count = ({ series }: Curve) => {
    const [a, b] = span(series, from, to);
    return b - a;
  };
  const { series } = curves.reduce((a, b) => (count(b) > count(a) ? b : a));
  const width = (to - from) / pixels;
  const t: number[] = [];
  let i = lower(series.t, series.rows, from);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const border = from + (pixel + 1) * width;
    const end = lower(series.t, series.rows, border);
    const first = end > i ? series.t[i]! : from + pixel * width;
    const last = end > i + 1 ? series.t[end - 1]! : first + 0.9 * (border - first);
    t.push(first, first + (last - first) / 3, first + (2 / 3) * (last - first), last);
    i = Math.max(i, end);
  }
  return t;
}

/** `a - b` at the times of `a`; `b` is held between its samples. */
export function difference(a: Series, b: Series): Series {
  const leaves = Math.min(a.leaves, b.leaves);
  const out = new Series(leaves);
  const rows = a.rows;
  const values = new Float64Array(rows * leaves);
  const t = a.t.slice(0, rows);
  let j = -1;
  let from = 0;
  for (let i = 0; i < rows; i++) {
    while (j + 1 < b.rows && b.t[j + 1]! <= t[i]! + 1e-12) j++;
    if (j < 0) {
      from = i + 1;
      continue;
    }
    for (let leaf = 0; leaf < leaves; leaf++) {
      values[i * leaves + leaf] = a.columns[leaf]![i]! - b.columns[leaf]![j]!;
    }
  }
  const end = b.rows ? upper(t, rows, b.last + 1e-12) : 0;
  if (end > from) out.append(t.slice(from, end), values.slice(from * leaves, end * leaves));
  return out;
}

/**
 * The largest size in a signal, when that was, and when it first was not zero; `null` if it has no
 * rows.
 */
export function largest(series: Series): { size: number; t: number; first: number | null } | null {
  let [size, row, first] = [-1, -1, Infinity];
  for (const column of series.columns) {
    for (let i = 0; i < series.rows; i++) {
      const value = Math.abs(column[i]!);
      if (value > size) [size, row] = [value, i];
      if (value > 0 && i < first) first = i;
    }
  }
  const when = first < series.rows ? series.t[first]! : null;
  return row < 0 ? null : { size, t: series.t[row]!, first: when };
}
