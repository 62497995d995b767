import { expect, test } from "vitest";
import { closed, opened, openedFor, openIn, opens } from "../src/diagram/fold";
import { fit, hit, junctions, neighbour, pathOfWire, toWorld, zoom } from "../src/diagram/geometry";
import { colourOf, periodsOf } from "../src/diagram/rates";
import type { Drawing, DrawnSymbol, SampleTime } from "../src/protocol";

const symbol = (path: string, frame: number, more: Partial<DrawnSymbol> = {}): DrawnSymbol => ({
  frame,
  role: "Block",
  name: path.split(".").at(-1)!,
  path,
  kind: "Gain",
  note: path,
  sample_time: "Continuous",
  inputs: ["u"],
  outputs: [{ name: "y", ty: "Scalar", bus: false }],
  calls: false,
  ...more,
});

/** Two blocks, the second in a frame in a frame, and a box that is closed. */
const drawing: Drawing = {
  schematic: {
    title: "test",
    frames: [
      { parent: null, name: "", path: "" },
      { parent: 0, name: "leg", path: "leg" },
      { parent: 1, name: "leg[FL]", path: "leg[FL]" },
    ],
    symbols: [
      symbol("a", 0),
      symbol("leg[FL].b", 2),
      symbol("mask", 0, { role: "Folded", sample_time: "Constant" }),
    ],
    wires: [
      { from: { symbol: 0, pin: 0 }, to: { symbol: 1, pin: 0 }, part: "[2]", flow: "Through" },
      { from: { symbol: 0, pin: 0 }, to: { symbol: 2, pin: 0 }, part: "", flow: "State" },
    ],
  },
  frames: [
    { x: 0, y: 0, width: 400, height: 300 },
    { x: 150, y: 50, width: 200, height: 100 },
    { x: 160, y: 80, width: 180, height: 60 },
  ],
  symbols: [
    { x: 20, y: 80, width: 60, height: 40 },
    { x: 200, y: 90, width: 60, height: 40 },
    { x: 200, y: 200, width: 60, height: 40 },
  ],
  inputs: [[[20, 100]], [[200, 110]], [[200, 220]]],
  outputs: [[[80, 110]], [[260, 110]], [[260, 220]]],
  wires: [
    [
      [80, 110],
      [200, 110],
    ],
    [
      [80, 110],
      [140, 110],
      [140, 220],
      [200, 220],
    ],
  ],
  labels: ["[2]", ""],
};

test("frames open and close with what lies in them", () => {
  expect(openIn(drawing)).toEqual(["leg", "leg[FL]"]);
  expect(drawing.schematic.symbols.map(opens)).toEqual([false, false, true]);
  expect(opens(symbol("solver", 0, { calls: true }))).toBe(true);
  expect(opened(drawing, "mask")).toEqual(["leg", "leg[FL]", "mask"]);
  expect(opened(drawing, "leg")).toEqual(["leg", "leg[FL]"]);
  expect(closed(drawing, "leg[FL]")).toEqual(["leg"]);
  expect(closed(drawing, "leg")).toEqual([]);
  expect(openedFor(drawing, "mask.inner.gain")).toEqual(
    expect.arrayContaining(["leg", "mask", "mask.inner"]),
  );
  expect(openedFor(drawing, "foot[FL].gain")).toEqual(expect.arrayContaining(["foot", "foot[FL]"]));
});

test("what is under the mouse is the topmost thing", () => {
  expect(hit(drawing, [50, 85], 5)).toEqual({ kind: "symbol", index: 0 });
  expect(hit(drawing, [78, 109], 5)).toEqual({ kind: "output", index: 0, pin: 0 });
  expect(hit(drawing, [22, 101], 5)).toEqual({ kind: "input", index: 0, pin: 0 });
  expect(hit(drawing, [170, 113], 5)).toEqual({ kind: "wire", index: 0 });
  expect(hit(drawing, [143, 180], 5)).toEqual({ kind: "wire", index: 1 });
  expect(hit(drawing, [170, 60], 5)).toEqual({ kind: "frame", index: 1 });
  expect(hit(drawing, [170, 90], 5)).toEqual({ kind: "frame", index: 2 });
  expect(hit(drawing, [390, 290], 5)).toBeNull();
});

test("a wire is watched by the path of what it reads", () => {
  expect(pathOfWire(drawing, 0)).toBe("a.y[2]");
  expect(pathOfWire(drawing, 1)).toBe("a.y");
});

test("zooming leaves the point under the mouse where it is", () => {
  const view = fit(drawing.frames[0]!, 800, 500);
  const at: [number, number] = [300, 200];
  const before = toWorld(view, at);
  const after = toWorld(zoom(view, 1.7, at), at);
  expect(after[0]).toBeCloseTo(before[0], 9);
  expect(after[1]).toBeCloseTo(before[1], 9);
  expect(zoom(view, 1e9, at).scale).toBe(4);
});

test("a net branches where three pieces meet", () => {
  expect(junctions(drawing.wires)).toEqual([[140, 110]]);
});

test("arrow keys go to the nearest block in their direction", () => {
  expect(neighbour(drawing, 0, 1, 0)).toBe(1);
  expect(neighbour(drawing, 1, 0, 1)).toBe(2);
  expect(neighbour(drawing, 0, -1, 0)).toBe(0);
});

test("periods are coloured by their length, whatever is shown", () => {
  const every = (period: number): SampleTime => ({
    Periodic: { period, offset: 0, text: `every ${period} ms` },
  });
  const symbols = [10, 1, 5].map((period) => symbol("x", 0, { sample_time: every(period) }));
  const periods = periodsOf(symbols);
  expect(periods).toEqual(["every 1 ms", "every 5 ms", "every 10 ms"]);
  const colours = [1, 5, 10].map((period) => colourOf(every(period), periods, false).line);
  expect(colours).toEqual(["#c2410c", "#0067a5", "#007a5a"]);
});
