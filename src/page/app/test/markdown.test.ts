import { expect, test } from "vitest";
import * as normal from "../src/link/normal";
import { parts } from "../src/ui/markdown";

test("a manual is split into paragraphs, tables, headings, lists and code", () => {
  const text =
    "A block.\n`y = u`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n# Heading\n- one\n  more\n- two\n\n    code\n\n```\nfence\n\nend\n```\nlast";
  expect(parts(text).map(({ kind, lines }) => [kind, lines.length])).toEqual([
    ["text", 2],
    ["table", 3],
    ["heading", 1],
    ["list", 2],
    ["code", 1],
    ["code", 3],
    ["text", 1],
  ]);
});

test("a value as RON writes it is split into number and unit", () => {
  expect(normal.split('"60 N*m/rad"')).toEqual({ value: "60", unit: "N*m/rad" });
  expect(normal.split("0.7")).toEqual({ value: "0.7", unit: "" });
  expect(normal.split('"stand"')).toEqual({ value: "stand", unit: "" });
  expect(normal.split('"-1.5e-3 kg*m^2"')).toEqual({ value: "-1.5e-3", unit: "kg*m^2" });
  expect(normal.split("[1, 2]")).toEqual({ value: "[1, 2]", unit: "" });
});

test("what the server leaves out is filled in", () => {
  const raw = {
    path: "pd.kp",
    name: "kp",
    value: '"60 N*m/rad"',
    unit: null,
    type: "quantity >= 0",
  };
  expect(normal.parameter(raw)).toMatchObject({ value: "60", unit: "N*m/rad", min: 0, max: null });
  const block = normal.block({
    path: "pd",
    inputs: [{ name: "u", from: ["a.y"], type: null }] as never,
  });
  expect(block.inputs[0]).toMatchObject({ path: "pd.u", from: ["a.y"], type: "", unit: "" });
});
