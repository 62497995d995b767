// Numbers for people.

/** A number in about `digits` digits, with an exponent beyond a thousand millions. */
export function number(value: number, digits = 6): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text =
    size >= 1e9 || size < 1e-4
      ? value.toExponential(digits - 1).replace(/\.?0+e/, "e")
      : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−").replace("e+", "e").replace("e-", "e−");
}

/** A time, in as many decimals as the period of a step needs. */
export function seconds(t: number, step: number): string {
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step || 1e-3) - 1e-9)));
  return t.toFixed(decimals);
}

/** Bytes or counts: 12 345 678. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** Most numbers of a vector that are written out. */
const MOST = 40;

/** A number, or several in brackets. */
export function vector(values: readonly number[]): string {
  if (values.length === 1) return number(values[0]!);
  const shown = values.slice(0, MOST).map((value) => number(value));
  const rest = values.length - shown.length;
  return `[${shown.join(", ")}${rest > 0 ? `, … ${rest} more` : ""}]`;
}
