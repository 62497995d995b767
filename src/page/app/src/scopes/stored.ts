// The scopes outlive a reload of the page: they are kept for the tab, by the title of the diagram.

import { effect } from "@preact/signals";
import * as app from "../app";
import { current, open, type Scope, scopes } from "./scopes";

/** A scope as text has it. */
export type Stored = Omit<Scope, "switched"> & { switched: string[] };

export function toText(all: readonly Scope[], chosen: number): string {
  const stored = all.map((scope): Stored => ({ ...scope, switched: [...scope.switched] }));
  return JSON.stringify({ scopes: stored, current: chosen });
}

const MODES = ["time", "difference", "phase", "histogram", "spectrum"];
const isTime = (value: unknown) => typeof value === "number" && Number.isFinite(value);
const isPair = (value: unknown) =>
  Array.isArray(value) && value.length === 2 && value.every(isTime);

/** Scopes of a text; whatever is none is left out. */
export function fromText(text: string | null): { scopes: Scope[]; current: number } {
  const none = { scopes: [], current: 0 };
  try {
    const { scopes: all, current: chosen } = JSON.parse(text ?? "null") as {
      scopes: Partial<Stored>[];
      current: number;
    };
    const whole = all.filter(
      ({ id, paths, mode, cursors, switched, pair }) =>
        isTime(id) &&
        Array.isArray(paths) &&
        paths.every((path) => typeof path === "string") &&
        MODES.includes(mode ?? "") &&
        Array.isArray(cursors) &&
        cursors.every(isTime) &&
        Array.isArray(switched) &&
        isPair(pair),
    ) as Stored[];
    const made = whole.map((one): Scope => ({
      ...one,
      follow: isTime(one.follow) ? one.follow : null,
      range: isPair(one.range) ? one.range : null,
      switched: new Set(one.switched),
    }));
    return { scopes: made, current: isTime(chosen) ? chosen : 0 };
  } catch {
    return none;
  }
}

const key = () => `legwork-scopes ${app.hello.value?.title ?? ""}`;
let restored = false;

async function restore(): Promise<void> {
  let text: string | null = null;
  try {
    text = sessionStorage.getItem(key());
  } catch {
    // Without storage there is nothing to restore.
  }
  const known = fromText(text);
  for (const scope of known.scopes) {
    const results = await Promise.allSettled(scope.paths.map((path) => app.watch(path)));
    // Signals that the diagram has no more are left out.
    const paths = scope.paths.filter((_, i) => results[i]!.status === "fulfilled");
    if (paths.length) open({ ...scope, paths });
  }
  if (scopes.value.some(({ id }) => id === known.current)) current.value = known.current;
}

effect(() => {
  // The first model tells which diagram it is.
  if (restored || !app.models.value.size || app.status.value !== "open") return;
  restored = true;
  void restore().finally(() => {
    effect(() => {
      const text = toText(scopes.value, current.value);
      try {
        sessionStorage.setItem(key(), text);
      } catch {
        // They last as long as the page then.
      }
    });
  });
});
