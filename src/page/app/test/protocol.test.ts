import { expect, test } from "vitest";
import { decode, type Frame, sequenceOf } from "../src/protocol";
import { Writer } from "./frames";

const two = () => ({ links: 2, robots: 1 });

test("a pose holds links, centres of mass and contacts in their order", () => {
  const writer = new Writer().u32(1, 9, 3, 0).f64(0.25);
  writer.f32(1, 2, 3, 1, 0, 0, 0).f32(4, 5, 6, 0, 1, 0, 0).f32(7, 8, 9);
  writer.u32(2).u32(1).f32(1, 0, 0, 0, 0, 1, 0, 0, 30, 0.5);
  writer.u32(0).f32(2, 0, 0, 0, 0, 1, 0, 0, 0, 0.75);
  const bytes = writer.bytes();
  expect(sequenceOf(bytes)).toBe(9);
  const frame = decode(bytes, two) as Extract<Frame, { kind: "pose" }>;
  expect(frame).toMatchObject({ kind: "pose", source: 3, t: 0.25 });
  expect([...frame.data]).toEqual([1, 2, 3, 1, 0, 0, 0, 4, 5, 6, 0, 1, 0, 0, 7, 8, 9]);
  expect(frame.contacts).toEqual([
    { touches: true, point: [1, 0, 0], normal: [0, 0, 1], force: [0, 0, 30], mu: 0.5 },
    { touches: false, point: [2, 0, 0], normal: [0, 0, 1], force: [0, 0, 0], mu: 0.75 },
  ]);
});

test("samples of several signals stand behind one another, times first", () => {
  const writer = new Writer().u32(2, 1, 0, 0).u32(2);
  writer.u32(7, 2, 3, 1).f64(0.1, 0.2).f64(1, 2, 3, 4, 5, 6);
  writer.u32(8, 1, 1, 2).f64(0.3).f64(NaN);
  const frame = decode(writer.bytes(), two) as Extract<Frame, { kind: "samples" }>;
  const [a, b] = frame.blocks;
  expect(a).toMatchObject({ signal: 7, rows: 2, leaves: 3, replaces: true, thinned: false });
  expect([[...a!.t], [...a!.values]]).toEqual([
    [0.1, 0.2],
    [1, 2, 3, 4, 5, 6],
  ]);
  expect(b).toMatchObject({ signal: 8, replaces: false, thinned: true });
  expect(b!.values[0]).toBeNaN();
});

test("a mesh has a path of any length, and patches with or without colour", () => {
  for (const path of ["a", "ab", "abc", "äöü/b.stl"]) {
    const writer = new Writer().u32(3, 1, 0, 0).text(path).u32(3, 2);
    writer.f32(0, 0, 0, 1, 0, 0, 0, 1, 0);
    writer.f32(-1, -1, -1, -1).u32(1).u32(0, 1, 2);
    writer.f32(1, 0.5, 0, 1).u32(1).u32(2, 1, 0);
    const frame = decode(writer.bytes(), two) as Extract<Frame, { kind: "mesh" }>;
    expect(frame.path).toBe(path);
    expect(frame.vertices.length).toBe(9);
    expect(frame.patches.map((patch) => patch.colour)).toEqual([null, [1, 0.5, 0, 1]]);
    expect([...frame.patches[1]!.indices]).toEqual([2, 1, 0]);
  }
});

test("an unknown kind is passed over, a short frame is an error", () => {
  expect(decode(new Writer().u32(99, 1, 0, 0).bytes(), two)).toBeNull();
  const whole = new Writer().u32(2, 1, 0, 0).u32(1).u32(7, 2, 1, 0).f64(0, 1, 2, 3).bytes();
  for (let length = 16; length < whole.byteLength; length++) {
    expect(() => decode(whole.slice(0, length), two)).toThrow();
  }
});
