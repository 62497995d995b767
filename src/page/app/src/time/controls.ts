// What the buttons and keys of time do.

import { signal } from "@preact/signals";
import * as app from "../app";

/** Speeds that the list offers: simulated seconds per second; null as fast as possible. */
export const SPEEDS: readonly (number | null)[] = [0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 5, 10, null];
export const speed = signal<number | null>(1);

const running = () => app.state.value?.running ?? false;

export async function run(): Promise<void> {
  await app.attempt("run", { speed: speed.value });
}

export async function pause(): Promise<void> {
  await app.attempt("pause");
}

export function toggle(): Promise<void> {
  return running() ? pause() : run();
}

export async function setSpeed(to: number | null): Promise<void> {
  speed.value = to;
  if (running()) await run();
}

export function faster(by: 1 | -1): Promise<void> {
  const at = SPEEDS.indexOf(speed.value);
  const to = Math.min(SPEEDS.length - 1, Math.max(0, (at < 0 ? 5 : at) + by));
  return setSpeed(SPEEDS[to]!);
}

async function travel(text: string): Promise<void> {
  if (running()) await pause();
  await app.line(text);
}

export const next = () => travel("next");
export const step = (count = 1) => travel(`step ${count}`);
export const back = (count = 1) => travel(`back ${count} step${count === 1 ? "" : "s"}`);

let wanted: number | null = null;
let busy = false;

/** Goes to a time; while one journey lasts, only the newest wish is kept. */
export async function seek(t: number): Promise<void> {
  wanted = t;
  if (busy) return;
  busy = true;
  try {
    while (wanted !== null) {
      const to: number = wanted;
      wanted = null;
      if (running()) await pause();
      await app.attempt("seek", { t: to });
    }
  } finally {
    busy = false;
  }
}

/** The latest time that the slider reaches [s]. */
export function horizon(): number {
  const state = app.state.value;
  const known = Math.max(state?.reach ?? 0, state?.t ?? 0);
  const end = app.model.value?.end;
  return end ?? Math.max(known, 1);
}
