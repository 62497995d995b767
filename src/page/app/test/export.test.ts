import { describe, expect, it } from "vitest";
import { svg, table } from "../src/scopes/export";
import { seen } from "../src/scopes/seen";
import type { Drawn } from "../src/scopes/scopes";
import { Series } from "../src/scopes/series";

type Inked = Drawn & { ink: string; dash: number[] };

/** A second of cos and sin of 8 Hz at 256 Hz. */
function circle(): Inked[] {
  const series = new Series(2);
  const t = Float64Array.from({ length: 256 }, (_, i) => i / 256);
  const rows = [...t].flatMap((time) => [
    Math.cos(16 * Math.PI * time),
    Math.sin(16 * Math.PI * time),
  ]);
  series.append(t, Float64Array.from(rows));
  return ["x", "y"].map((label, leaf) => ({
    key: label,
    path: "point",
    label,
    unit: "m",
    source: 0,
    colour: leaf,
    on: true,
    series,
    leaf,
    ink: "#000",
    dash: [],
  })) as unknown as Inked[];
}

describe("what is exported of a scope", () => {
  it("is nothing else over time", () => {
    expect(seen("time", circle(), [0, 1])).toBeNull();
    expect(seen("difference", circle(), [0, 1])).toBeNull();
  });

  it("is a curve over another in phase", () => {
    const found = seen("phase", circle(), [0, 1])!;
    expect(found.across.label).toBe("x [m]");
    const [line] = found.lines;
    expect(line!.xs.length).toBe(256);
    line!.xs.forEach((x, i) => expect(Math.hypot(x, line!.ys[i]!)).toBeCloseTo(1, 12));
    expect(found.across.range[0]).toBeCloseTo(-1, 12);
    const text = table(found.lines, found.across.label).trim().split("\n");
    expect(text[0]).toBe("x [m],y [m]");
    expect(text.length).toBe(257);
  });

  it("counts every sample in a histogram", () => {
    const found = seen("histogram", circle(), [0, 1])!;
    const sum = found.lines[0]!.ys.reduce((all: number, count) => all + (count ?? 0), 0);
    expect(sum).toBe(256);
    expect(found.across.label).toBe("x [m]");
    const picture = svg(found.lines, found.across, true);
    expect(picture).not.toContain("<polyline");
    expect(picture).toContain("samples of x");
  });

  it("has the amplitude of a sine at its frequency", () => {
    const found = seen("spectrum", circle(), [0, 1])!;
    expect(found.lines.length).toBe(2);
    const { xs, ys } = found.lines[1]!;
    const at = xs.findIndex((frequency) => Math.abs(frequency - 8) < 1e-9);
    expect(ys[at]!).toBeCloseTo(1, 2);
    const text = table(found.lines, found.across.label).split("\n");
    expect(text[0]).toBe("frequency [Hz],x [m],y [m]");
  });

  it("has a column across for each line that is over its own", () => {
    const line = { label: "a", unit: "", ink: "#000", dash: [], xs: [1, 2], ys: [3, null] };
    const other = { ...line, label: "b", unit: "N", xs: [5], ys: [6] };
    expect(table([line, other], "f")).toBe("f,a,f,b [N]\n1,3,5,6\n2,,,\n");
  });
});
