import { expect, test } from "vitest";
import { Series } from "../src/scopes/series";
import { histogram, spectrum, transform } from "../src/scopes/statistics";
import { number, seconds } from "../src/ui/format";

test("the transform is that of its definition", () => {
  const re = Float64Array.from({ length: 32 }, (_, k) => Math.cos(k * k));
  const im = Float64Array.from({ length: 32 }, (_, k) => Math.sin(3 * k));
  const expected = Array.from({ length: 32 }, (_, n) => {
    let [x, y] = [0, 0];
    for (let k = 0; k < 32; k++) {
      const angle = (-2 * Math.PI * n * k) / 32;
      x += re[k]! * Math.cos(angle) - im[k]! * Math.sin(angle);
      y += re[k]! * Math.sin(angle) + im[k]! * Math.cos(angle);
    }
    return [x, y];
  });
  transform(re, im);
  expected.forEach(([x, y], n) => {
    expect(re[n]).toBeCloseTo(x!, 10);
    expect(im[n]).toBeCloseTo(y!, 10);
  });
});

test("a sine shows its frequency and amplitude", () => {
  const series = new Series(1);
  const rows = 4096;
  const t = Float64Array.from({ length: rows }, (_, k) => k / 1000);
  // 50 periods in 1024 samples: in the middle of a bin for each power of two above.
  const f = (50 * 1000) / 1024;
  series.append(
    t,
    t.map((time) => 3 + 2.5 * Math.sin(2 * Math.PI * f * time)),
  );
  const { frequencies, amplitudes } = spectrum(series, 0, 0, 10);
  const peak = amplitudes.indexOf(Math.max(...amplitudes));
  expect(frequencies[peak]).toBeCloseTo(f, 2);
  expect(amplitudes[peak]).toBeCloseTo(2.5, 2);
});

test("a histogram counts each sample once", () => {
  const series = new Series(1);
  series.append(
    Float64Array.from({ length: 1000 }, (_, k) => k),
    Float64Array.from({ length: 1000 }, (_, k) => (k * 7919) % 1000),
  );
  const { counts, centres } = histogram(series, 0, 0, 1000, 10);
  expect(counts).toEqual(new Array(10).fill(100));
  expect(centres[0]).toBeCloseTo(49.95, 9);
});

test("numbers are short and keep their sign and size", () => {
  expect(number(0.1 + 0.2)).toBe("0.3");
  expect(number(-12.3456789)).toBe("−12.3457");
  expect(number(1.5e-9)).toBe("1.5e−9");
  expect(number(123456789)).toBe("123457000");
  expect(number(NaN)).toBe("NaN");
  expect(number(-Infinity)).toBe("−∞");
  expect(seconds(0.5, 1e-3)).toBe("0.500");
  expect(seconds(0.5, 2.5e-4)).toBe("0.5000");
});
