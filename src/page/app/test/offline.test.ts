import { expect, test } from "vitest";
import { answerTo, messages, type Stored } from "../src/link/offline";

function stream(parts: (string | Uint8Array)[]): Uint8Array {
  const out: number[] = [];
  for (const part of parts) {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    const head = new DataView(new ArrayBuffer(5));
    head.setUint32(0, bytes.length, true);
    head.setUint8(4, typeof part === "string" ? 0 : 1);
    out.push(...new Uint8Array(head.buffer), ...bytes);
  }
  return new Uint8Array(out);
}

test("a stream is split into its messages", () => {
  const parts = [...messages(stream(['{"a":"ä"}', Uint8Array.of(1, 2, 3), "{}"]))];
  expect(parts[0]).toBe('{"a":"ä"}');
  expect([...new Uint8Array(parts[1] as ArrayBuffer)]).toEqual([1, 2, 3]);
  expect(parts[2]).toBe("{}");
});

test("a stream that is cut off is an error, wherever", () => {
  const whole = stream(["{}", Uint8Array.of(1, 2, 3)]);
  expect(() => [...messages(whole.subarray(0, whole.length - 1))]).toThrow();
});

const drawing = (...paths: string[]) => ({
  drawing: { schematic: { frames: [{ path: "" }, ...paths.map((path) => ({ path }))] } },
});
const stored: Stored[] = [
  { request: { do: "draw", depth: 0 }, ok: drawing() },
  { request: { do: "draw", depth: 1 }, ok: drawing("a", "b") },
  { request: { do: "draw", depth: null }, ok: drawing("a", "b", "a.c") },
  { request: { do: "block", path: "pd" }, ok: { kind: "JointPd" } },
];

test("an answer is that to the same question", () => {
  expect(answerTo(stored, "block", { path: "pd" })).toEqual({ kind: "JointPd" });
  expect(answerTo(stored, "block", { path: "other" })).toBeUndefined();
  expect(answerTo(stored, "draw", { depth: 0 })).toEqual(drawing());
  expect(answerTo(stored, "draw", { depth: null })).toEqual(drawing("a", "b", "a.c"));
});

test("frames open as far as a stored drawing shows them", () => {
  expect(answerTo(stored, "draw", { open: ["a"] })).toEqual(drawing("a", "b"));
  expect(answerTo(stored, "draw", { open: ["a.c"] })).toEqual(drawing("a", "b", "a.c"));
  expect(answerTo(stored, "draw", { open: [] })).toEqual(drawing());
});
