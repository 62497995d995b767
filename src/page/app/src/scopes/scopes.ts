// The scopes and what each shows.

import { computed, signal } from "@preact/signals";
import * as app from "../app";
import { number } from "../ui/format";
import { type Curve, difference } from "./decimate";
import type { Series } from "./series";

export type Mode = "time" | "difference" | "phase" | "histogram" | "spectrum";

export interface Scope {
  id: number;
  paths: readonly string[];
  mode: Mode;
  /** Seconds that are shown before the newest sample; null for a window that stays. */
  follow: number | null;
  /** What is shown [s]; null for all there is. */
  range: readonly [number, number] | null;
  cursors: readonly number[];
  /** Curves that the legend has switched, off or on. */
  switched: ReadonlySet<string>;
  /** Sources that a difference is taken of. */
  pair: readonly [number, number];
}

/** Curves of a signal that are on at first. */
const MOST_CURVES = 12;

export const scopes = signal<readonly Scope[]>([]);
/** The scope that gets what is clicked. */
export const current = signal(0);
let nextId = 1;

export const scopedPaths = computed(() => new Set(scopes.value.flatMap((scope) => scope.paths)));

export function change(id: number, by: Partial<Scope>): void {
  scopes.value = scopes.value.map((scope) => (scope.id === id ? { ...scope, ...by } : scope));
}

/** Shows a signal in the current scope, or in a new one. */
export async function addToScope(path: string, fresh: boolean): Promise<void> {
  const target = scopes.value.find((scope) => scope.id === current.value);
  if (target && !fresh && target.paths.includes(path)) return;
  try {
    await app.watch(path);
  } catch (error) {
    app.say("error", app.messageOf(error));
    return;
  }
  const into = fresh
    ? undefined
    : (scopes.value.find((s) => s.id === current.value) ?? scopes.value.at(-1));
  if (into) {
    current.value = into.id;
    change(into.id, { paths: [...into.paths, path] });
    return;
  }
  const id = nextId++;
  const scope: Scope = {
    id,
    paths: [path],
    mode: "time",
    follow: null,
    range: null,
    cursors: [],
    switched: new Set(),
    pair: [0, 1],
  };
  scopes.value = [...scopes.value, scope];
  current.value = id;
}

/** Shows a scope whose signals are watched. */
export function open(scope: Scope): void {
  nextId = Math.max(nextId, scope.id + 1);
  scopes.value = [...scopes.value, scope];
}

export function removeTrace(id: number, path: string): void {
  const scope = scopes.value.find((one) => one.id === id);
  if (!scope) return;
  app.release(path);
  const paths = scope.paths.filter((one) => one !== path);
  if (paths.length) change(id, { paths });
  else scopes.value = scopes.value.filter((one) => one.id !== id);
}

export function closeScope(id: number): void {
  const scope = scopes.value.find((one) => one.id === id);
  scope?.paths.forEach((path) => app.release(path));
  scopes.value = scopes.value.filter((one) => one.id !== id);
}

/** A curve with what a legend says about it. */
export interface Drawn extends Curve {
  key: string;
  path: string;
  label: string;
  /** Without the path, where all curves of a scope share it. */
  short: string;
  unit: string;
  source: number;
  /** Index of its colour. */
  colour: number;
  on: boolean;
  thinned: boolean;
}

const cache = new Map<string, { versions: string; series: Series }>();

/** The difference of a signal in two sources; computed anew when either has changed. */
function differenceOf(path: string, a: number, b: number): Series | null {
  const [left, right] = [app.watchedOf(a, path)?.series, app.watchedOf(b, path)?.series];
  if (!left || !right) return null;
  const key = `${path} ${a} ${b}`;
  const versions = `${left.version} ${right.version}`;
  const known = cache.get(key);
  if (known?.versions === versions) return known.series;
  const series = difference(left, right);
  cache.set(key, { versions, series });
  return series;
}

/** How a leaf is told from the others of its signal. */
export function nameOf(names: readonly string[], leaf: number): string {
  const name = names[leaf] ?? "";
  if (!name || /^\[\d+\]$/.test(name)) return `[${leaf}]`;
  const again = names.indexOf(name) !== names.lastIndexOf(name);
  return again ? `[${leaf}] ${name}` : ` ${name}`;
}

/** The curves of a scope, those that are off included. */
export function curvesOf(scope: Scope): Drawn[] {
  const out: Drawn[] = [];
  const shown = app.sources.value.filter((source) => !app.hidden.value.has(source));
  const several = shown.length > 1;
  let colour = 0;
  for (const path of scope.paths) {
    const answers = shown.map((source) => app.watchedOf(source, path)?.answer);
    const answer = answers.find((one) => one !== undefined);
    if (!answer) continue;
    for (let leaf = 0; leaf < answer.leaves; leaf++) {
      const end = answer.leaves > 1 ? nameOf(answer.names, leaf) : "";
      const unit = answer.units?.[leaf] ?? answer.unit;
      const add = (series: Series | null | undefined, source: number, suffix: string) => {
        if (!series || leaf >= series.leaves) return;
        const key = `${path} ${leaf} ${source}`;
        const on = leaf < MOST_CURVES !== scope.switched.has(key);
        const label = `${path}${end}${suffix}`;
        const short = scope.paths.length === 1 && end ? `${end.trim()}${suffix}` : label;
        const thinned = series.thinned;
        out.push({ key, path, label, short, unit, source, colour, on, thinned, series, leaf });
      };
      if (scope.mode === "difference") {
        const [a, b] = scope.pair;
        const names = ` ${app.sourceName(a)} − ${app.sourceName(b)}`;
        add(differenceOf(path, a, b), a, names);
      } else {
        for (const source of shown) {
          const suffix = several ? ` · ${app.sourceName(source)}` : "";
          add(app.watchedOf(source, path)?.series, source, suffix);
        }
      }
      colour++;
    }
  }
  return out;
}

/** First and last time of curves. */
export function extentOf(curves: readonly Curve[]): [number, number] {
  let [from, to] = [Infinity, -Infinity];
  for (const { series } of curves) {
    if (!series.rows) continue;
    from = Math.min(from, series.first);
    to = Math.max(to, series.last);
  }
  if (!(from <= to)) return [0, 1];
  return from === to ? [from, from + 1e-3] : [from, to];
}

/** The window that a scope shows [s]. */
export function windowOf(scope: Scope, curves: readonly Curve[]): [number, number] {
  const [from, to] = extentOf(curves);
  if (scope.follow !== null) {
    const t = app.state.value?.t ?? to;
    return [Math.max(from, t - scope.follow), Math.max(t, from + 1e-3)];
  }
  return scope.range ? [scope.range[0], scope.range[1]] : [from, to];
}

/** The value of a curve at a time, held since the sample before. */
export function valueAt(curve: Curve, t: number): number | null {
  const row = curve.series.at(t + 1e-9);
  return row < 0 ? null : (curve.series.columns[curve.leaf]![row] ?? null);
}

export function valueText(curve: Curve, t: number): string {
  const value = valueAt(curve, t);
  return value === null ? "–" : number(value);
}
