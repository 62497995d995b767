// Answers as the page wants them: no nulls where a text is expected, values without their units.

import type { BlockAnswer, Choices, Parameter, PortInfo, WatchAnswer } from "../protocol";

type Loose<T> = { [K in keyof T]?: T[K] | null };

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Splits a value as RON writes it, `"60 N*m/rad"`, into number and unit. */
export function split(value: string): { value: string; unit: string } {
  const quoted = /^"(.*)"$/s.exec(value.trim());
  if (!quoted) return { value: value.trim(), unit: "" };
  const inner = quoted[1]!;
  const quantity = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s+(\S.*)$/.exec(inner);
  return quantity ? { value: quantity[1]!, unit: quantity[2]! } : { value: inner, unit: "" };
}

const bound = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  const number = typeof value === "number" ? value : Number.parseFloat(split(String(value)).value);
  return Number.isFinite(number) ? number : null;
};

export function parameter(raw: Loose<Parameter> & { path: string }): Parameter {
  const parts = split(text(raw.value));
  return {
    path: raw.path,
    name: text(raw.name) || raw.path,
    value: parts.value,
    unit: parts.unit || (text(raw.unit) === "any" ? "" : text(raw.unit)),
    doc: text(raw.doc),
    tunable: raw.tunable ?? true,
    ...(raw.why ? { why: raw.why } : {}),
    given: raw.given ?? true,
    type: text(raw.type),
    min: bound(raw.min) ?? (/>=? 0/.test(text(raw.type)) ? 0 : null),
    max: bound(raw.max),
  };
}

export function block(raw: Loose<BlockAnswer> & { path: string }): BlockAnswer {
  const port = (one: Loose<PortInfo>): PortInfo => ({
    name: text(one.name),
    path: text(one.path) || `${raw.path}.${text(one.name)}`,
    type: text(one.type),
    unit: text(one.unit),
    frame: text(one.frame),
    ...(one.from ? { from: one.from } : {}),
  });
  return {
    path: raw.path,
    kind: text(raw.kind),
    manual: text(raw.manual),
    summary: text(raw.summary),
    parameters: (raw.parameters ?? []).map(parameter),
    inputs: (raw.inputs ?? []).map(port),
    outputs: (raw.outputs ?? []).map(port),
    rate: text(raw.rate),
    line: raw.line ?? null,
    time_us: raw.time_us ?? null,
  };
}

export function watch(raw: Loose<WatchAnswer> & { signal: number; leaves: number }): WatchAnswer {
  return {
    signal: raw.signal,
    path: text(raw.path),
    leaves: raw.leaves,
    unit: text(raw.unit),
    units: (raw.units ?? []).map(text),
    names: (raw.names ?? []).map(text),
    type: text(raw.type),
    frame: text(raw.frame),
    rate: text(raw.rate),
  };
}

export function choices(raw: Choices): Choices {
  return {
    variants: raw.variants ?? [],
    inputs: (raw.inputs ?? []).map((input) => ({ ...input, value: text(input.value) })),
    parameters: (raw.parameters ?? []).map(parameter),
  };
}
