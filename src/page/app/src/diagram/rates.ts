// Colours of sample times: those of `legwork graph` on a light ground, brighter ones on a dark.

import type { DrawnSymbol, SampleTime } from "../protocol";

export interface RateColour {
  line: string;
  fill: string;
}

interface Palette {
  constant: RateColour;
  continuous: RateColour;
  periods: RateColour[];
}

/** After Okabe and Ito (2008): hues that people with any kind of colour vision tell apart. */
const LIGHT: Palette = {
  constant: { line: "#7a7f87", fill: "#f1f2f4" },
  continuous: { line: "#1f2a3a", fill: "#ffffff" },
  periods: [
    { line: "#c2410c", fill: "#fff1e8" },
    { line: "#0067a5", fill: "#e8f3fb" },
    { line: "#007a5a", fill: "#e6f6f0" },
    { line: "#a83a7c", fill: "#fbebf4" },
    { line: "#8a6d00", fill: "#fbf5dc" },
    { line: "#5b4bb3", fill: "#efedfb" },
    { line: "#8c2d19", fill: "#fbeae6" },
  ],
};
const DARK: Palette = {
  constant: { line: "#8b939e", fill: "#23282f" },
  continuous: { line: "#c9d4e3", fill: "#1d232c" },
  periods: [
    { line: "#f0894e", fill: "#33231a" },
    { line: "#56b0ea", fill: "#182a38" },
    { line: "#3fc49a", fill: "#162d26" },
    { line: "#e07fb8", fill: "#32202b" },
    { line: "#d3b33c", fill: "#2d2815" },
    { line: "#a394f0", fill: "#25223a" },
    { line: "#e8836d", fill: "#331f1b" },
  ],
};

export function labelOf(time: SampleTime): string {
  if (time === "Constant") return "constant";
  if (time === "Continuous") return "continuous";
  return time.Periodic.text;
}

function order(time: SampleTime): [number, number] {
  if (time === "Constant") return [-2, 0];
  if (time === "Continuous") return [-1, 0];
  return [time.Periodic.period, time.Periodic.offset];
}

/** Labels of the periods that occur, the shortest first; bars have no time of their own. */
export function periodsOf(symbols: readonly DrawnSymbol[]): string[] {
  const times = new Map<string, [number, number]>();
  for (const symbol of symbols) {
    if (symbol.role === "Join" || typeof symbol.sample_time === "string") continue;
    times.set(labelOf(symbol.sample_time), order(symbol.sample_time));
  }
  const sorted = [...times].sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
  return sorted.map(([label]) => label);
}

/** The colour of a sample time; `periods` are the labels of all periods of the diagram. */
export function colourOf(time: SampleTime, periods: readonly string[], dark: boolean): RateColour {
  const palette = dark ? DARK : LIGHT;
  if (time === "Constant") return palette.constant;
  if (time === "Continuous") return palette.continuous;
  const index = Math.max(0, periods.indexOf(labelOf(time)));
  return palette.periods[index % palette.periods.length]!;
}
