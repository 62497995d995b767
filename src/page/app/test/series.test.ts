import { expect, test } from "vitest";
import { difference, largest, sampled } from "../src/scopes/decimate";
import { extremes, Series } from "../src/scopes/series";

/** Numbers in [0, 1), the same each time (Park and Miller, 1988). */
function* random(seed = 1): Generator<number> {
  for (let x = seed; ;) {
    x = (x * 48271) % 2147483647;
    yield x / 2147483647;
  }
}

function filled(
  rows: number,
  leaves: number,
  value: (row: number, leaf: number) => number,
): Series {
  const series = new Series(leaves);
  const t = Float64Array.from({ length: rows }, (_, row) => row * 1e-3);
  const values = new Float64Array(rows * leaves);
  for (let row = 0; row < rows; row++) {
    for (let leaf = 0; leaf < leaves; leaf++) values[row * leaves + leaf] = value(row, leaf);
  }
  series.append(t, values);
  return series;
}

test("extremes of any range are those of a plain search", () => {
  const numbers = random(3);
  const series = filled(5000, 2, () => numbers.next().value as number);
  for (let i = 0; i < 500; i++) {
    const a = Math.floor((numbers.next().value as number) * 5000);
    const b = Math.floor((numbers.next().value as number) * 5000);
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    expect(series.range(1, from, to)).toEqual(extremes(series.columns[1]!, from, to));
  }
});

test("appending in pieces gives what appending at once gives", () => {
  const whole = filled(1000, 3, (row, leaf) => Math.sin(row + leaf));
  const pieces = new Series(3);
  for (let row = 0; row < 1000; row += 37) {
    const rows = Math.min(37, 1000 - row);
    const values = new Float64Array(3 * rows);
    for (let i = 0; i < values.length; i++) {
      values[i] = whole.columns[i % 3]![row + Math.floor(i / 3)]!;
    }
    pieces.append(whole.t.slice(row, row + rows), values);
  }
  expect(pieces.rows).toBe(1000);
  for (const leaf of [0, 1, 2]) {
    expect(pieces.columns[leaf]!.slice(0, 1000)).toEqual(whole.columns[leaf]!.slice(0, 1000));
    expect(pieces.range(leaf, 10, 990)).toEqual(whole.range(leaf, 10, 990));
  }
});

test("rows that come again take the place of the old ones", () => {
  const series = filled(100, 1, (row) => row);
  series.append(Float64Array.of(0.05, 0.06), Float64Array.of(-1, -2));
  expect([series.rows, series.last]).toEqual([52, 0.06]);
  expect(series.columns[0]![51]).toBe(-2);
  expect(series.range(0, 0, 52)).toEqual([-2, 49]);
});

test("beyond its limit a series stays small and loses no spike", () => {
  const series = new Series(2, 4096);
  let spikes = 0;
  for (let piece = 0; piece < 200; piece++) {
    const t = Float64Array.from({ length: 500 }, (_, i) => (500 * piece + i) * 1e-3);
    const values = new Float64Array(1000);
    for (let i = 0; i < 500; i++) values[2 * i + 1] = Math.sin(0.01 * (500 * piece + i));
    if (piece === 3 || piece === 150) {
      values[2 * 123] = piece === 3 ? 50 : -70;
      spikes++;
    }
    series.append(t, values);
  }
  expect(spikes).toBe(2);
  expect(series.rows).toBeLessThan(2 * 4096);
  expect(series.thinned).toBe(true);
  expect(series.range(0, 0, series.rows)).toEqual([-70, 50]);
  for (let row = 1; row < series.rows; row++) {
    expect(series.t[row]! > series.t[row - 1]!).toBe(true);
  }
  expect(series.last).toBeCloseTo(99.999, 9);
});

test("few points are drawn as they are, many as extremes of each pixel", () => {
  const few = filled(100, 1, (row) => row);
  expect(sampled([{ series: few, leaf: 0 }], 0, 1, 500).columns[0]).toEqual(
    Array.from({ length: 100 }, (_, row) => row),
  );
  const many = filled(1_000_000, 1, (row) => (row === 765_432 ? 9 : Math.sin(row)));
  const { t, columns } = sampled([{ series: many, leaf: 0 }], 0, 1000, 800);
  expect(t.length).toBe(3200);
  const column = columns[0]!;
  expect(Math.max(...column.map((value) => value ?? 0))).toBe(9);
  const at = column.indexOf(9);
  for (let i = 1; i < t.length; i++) expect(t[i]! > t[i - 1]!).toBe(true);
  // Within a pixel of where it was.
  expect(Math.abs(t[at]! - 765.432)).toBeLessThan(1000 / 800);
});

test("a straight line stays straight, however steep", () => {
  const line = filled(60_000, 1, (row) => 1000 * row);
  const { t, columns } = sampled([{ series: line, leaf: 0 }], 0, 60, 500);
  columns[0]!.forEach((value, i) => {
    if (value !== null) expect(Math.abs(value - 1e6 * t[i]!)).toBeLessThan(1e-3);
  });
});

test("a million points are drawn fast", () => {
  const series = filled(1_000_000, 6, (row, leaf) => Math.sin(1e-3 * row * (leaf + 1)));
  const curves = [0, 1, 2, 3, 4, 5].map((leaf) => ({ series, leaf }));
  let least = Infinity;
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    sampled(curves, i, 1000, 800);
    least = Math.min(least, performance.now() - began);
  }
  // A frame at 60 per second, with the drawing still to come.
  expect(least).toBeLessThan(16);
});

test("signals of different rates share an axis", () => {
  const fast = filled(10, 1, (row) => row);
  const slow = new Series(1);
  slow.append(Float64Array.of(0, 0.005), Float64Array.of(1, 2));
  const { t, columns } = sampled(
    [
      { series: fast, leaf: 0 },
      { series: slow, leaf: 0 },
    ],
    0,
    1,
    500,
  );
  expect(t.length).toBe(10);
  expect(columns[1]).toEqual([1, null, null, null, null, 2, null, null, null, null]);
});

test("a difference is taken where both are known", () => {
  const a = filled(100, 2, (row, leaf) => row + leaf);
  const b = new Series(2);
  b.append(Float64Array.of(0.01, 0.02, 0.05), Float64Array.of(1, 2, 3, 4, 5, 6));
  const d = difference(a, b);
  expect([d.first, d.last]).toEqual([0.01, 0.05]);
  expect([d.columns[0]![0], d.columns[1]![0]]).toEqual([10 - 1, 11 - 2]);
  expect(d.columns[0]![d.rows - 1]).toBe(50 - 5);
  // Of the second column 49 + 1 - 4, just before b changes again.
  expect(largest(d)).toEqual({ size: 46, t: 0.049, first: 0.01 });
  expect(largest(new Series(1))).toBeNull();
});
