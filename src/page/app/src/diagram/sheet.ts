// The drawing that is shown, and what asks for another: opening, closing, searching.

import { computed, effect, signal } from "@preact/signals";
import * as app from "../app";
import type { Drawing, Drawn } from "../protocol";
import { closed, MOST_AT_FIRST, opened, openedFor, openIn } from "./fold";
import { periodsOf } from "./rates";

export const drawn = signal<Drawn | null>(null);
export const search = signal("");
/** The point that stays where it is when the next drawing comes: a path. */
export let anchor: string | null = null;

let open: string[] | null = null;

/** Labels of the periods of the whole diagram, as far as a drawing or the model tells. */
export const periods = computed(() => {
  const own = periodsOf(drawn.value?.drawing.schematic.symbols ?? []);
  const rates = app.model.value?.rates.map((rate) => rate.label) ?? [];
  const all = rates.filter((label) => label !== "constant" && label !== "continuous");
  return own.every((label) => all.includes(label)) ? all : own;
});

export const loops = computed(() => new Set((drawn.value?.loops ?? []).flat()));

export const found = computed(() => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = new Set<number>();
  if (!words.length) return hits;
  drawn.value?.drawing.schematic.symbols.forEach((symbol, index) => {
    const text = `${symbol.path} ${symbol.kind}`.toLowerCase();
    if (symbol.path && words.every((word) => text.includes(word))) hits.add(index);
  });
  return hits;
});

/** The blocks, or frames around them, whose signals were the first to part. */
export const parted = computed(() => {
  const { symbols = [], frames = [] } = drawn.value?.drawing.schematic ?? {};
  const holds = (path: string, signal: string) =>
    path !== "" && (signal.startsWith(`${path}.`) || signal.startsWith(`${path}[`));
  const paths = [...symbols, ...frames].map(({ path }) => path);
  return new Set(paths.filter((path) => app.parted.value.some((signal) => holds(path, signal))));
});

async function request(args: Record<string, app.AskArgument>, keep: string | null): Promise<void> {
  const answer = await app.attempt<Drawn>("draw", args);
  if (!answer) return;
  anchor = keep;
  open = openIn(answer.drawing);
  drawn.value = answer;
}

export async function first(): Promise<void> {
  if (open) return request({ open }, null);
  const blocks = app.model.value?.blocks.length ?? 0;
  await request({ depth: blocks > MOST_AT_FIRST ? 0 : null }, null);
}

export function toggle(path: string): Promise<void> {
  const drawing = drawn.value?.drawing;
  if (!drawing) return Promise.resolve();
  const is = openIn(drawing).includes(path);
  return request({ open: is ? closed(drawing, path) : opened(drawing, path) }, path);
}

export const openAll = () => request({ depth: null }, null);
export const closeAll = () => request({ depth: 0 }, null);

/** Opens what hides a block. */
export async function show(path: string): Promise<void> {
  const drawing = drawn.value?.drawing;
  if (!drawing || indexOf(drawing, path) >= 0) return;
  await request({ open: openedFor(drawing, path) }, null);
}

export function indexOf(drawing: Drawing, path: string): number {
  return drawing.schematic.symbols.findIndex((symbol) => symbol.path === path);
}

// A model that was compiled anew, or a server that was found again, may have another drawing.
let last: unknown = null;
effect(() => {
  const model = app.model.value;
  const key = model;
  if (!model || key === last || (app.status.value !== "open" && app.status.value !== "replay")) {
    return;
  }
  last = key;
  void first();
});
