// Histogram and spectrum of a column of a signal.

import { lower, type Series, upper } from "./series";

/** Counts of values in equal bins. */
export function histogram(
  series: Series,
  leaf: number,
  from: number,
  to: number,
  bins: number,
): { centres: number[]; counts: number[] } {
  const [a, b] = [lower(series.t, series.rows, from), upper(series.t, series.rows, to)];
  const [least, most] = series.range(leaf, a, b);
  const counts = new Array<number>(bins).fill(0);
  if (Number.isNaN(least)) return { centres: [], counts: [] };
  const width = (most - least) / bins || 1;
  for (let i = a; i < b; i++) {
    const value = series.columns[leaf]![i]!;
    if (Number.isNaN(value)) continue;
    const bin = Math.min(bins - 1, Math.floor((value - least) / width));
    counts[bin] = counts[bin]! + 1;
  }
  return { centres: counts.map((_, bin) => least + (bin + 0.5) * width), counts };
}

/** Most samples of a spectrum. */
const LONGEST = 1 << 16;

/**
 * Amplitudes of a signal by frequency [Hz]: its samples, held on an even grid, without their mean,
 * with a Hann window, scaled such that a sine of amplitude A in the middle of a bin shows A.
 */
export function spectrum(
  series: Series,
  leaf: number,
  from: number,
  to: number,
): { frequencies: number[]; amplitudes: number[] } {
  const [a, b] = [lower(series.t, series.rows, from), upper(series.t, series.rows, to)];
  const rows = b - a;
  if (rows < 8) return { frequencies: [], amplitudes: [] };
  let size = 8;
  while (2 * size <= Math.min(rows, LONGEST)) size *= 2;
  const span = (series.t[b - 1]! - series.t[a]!) * (rows / (rows - 1));
  const step = span / rows > 0 ? Math.max(span / rows, span / LONGEST) : 1;
  const start = series.t[b - 1]! - (size - 1) * step;
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  let sum = 0;
  for (let k = 0, i = a; k < size; k++) {
    const t = start + k * step + 1e-9 * step;
    while (i + 1 < b && series.t[i + 1]! <= t) i++;
    re[k] = series.columns[leaf]![i]!;
    sum += re[k]!;
  }
  for (let k = 0; k < size; k++) {
    re[k] = (re[k]! - sum / size) * (0.5 - 0.5 * Math.cos((2 * Math.PI * k) / size));
  }
  transform(re, im);
  const frequencies: number[] = [];
  const amplitudes: number[] = [];
  for (let k = 1; k < size / 2; k++) {
    frequencies.push(k / (size * step));
    amplitudes.push((4 / size) * Math.hypot(re[k]!, im[k]!));
  }
  return { frequencies, amplitudes };
}

/** Discrete Fourier transform in place; the size is a power of two (Cooley, Tukey 1965). */
export function transform(re: Float64Array, im: Float64Array): void {
  const size = re.length;
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let length = 2; length <= size; length *= 2) {
    const angle = (-2 * Math.PI) / length;
    for (let k = 0; k < length / 2; k++) {
      const [c, s] = [Math.cos(k * angle), Math.sin(k * angle)];
      for (let i = k; i < size; i += length) {
        const j = i + length / 2;
        const [x, y] = [re[j]! * c - im[j]! * s, re[j]! * s + im[j]! * c];
        [re[j], im[j]] = [re[i]! - x, im[i]! - y];
        [re[i], im[i]] = [re[i]! + x, im[i]! + y];
      }
    }
  }
}
