// What the page knows: models, states, samples, selections. Components read signals of this file
// and call its functions; only this file talks to the link.

import { computed, effect, type Signal, signal } from "@preact/signals";
import type { Link, Status } from "./link/link";
import * as normal from "./link/normal";
import {
  type BlockAnswer,
  type Choices,
  decode,
  type Diagnostic,
  type Hello,
  type Json,
  type Live,
  type MeshFrame,
  type Model,
  POSE,
  type PoseFrame,
  PROTOCOL,
  type Report,
  type RunningText,
  type State,
  type Facts,
  type Values,
  type WatchAnswer,
} from "./protocol";
import { Series } from "./scopes/series";
import { vector } from "./ui/format";

export type AskArgument = Json;

export interface Watched {
  answer: WatchAnswer;
  series: Series;
}
export interface LogLine {
  kind: "input" | "output" | "error";
  text: string;
}
export type Selection =
  | { kind: "block" | "frame"; path: string }
  | { kind: "wire"; path: string; to: string; type: string }
  | null;

export const status = signal<Status>("connecting");
export const hello = signal<Hello | null>(null);
export const models = signal<ReadonlyMap<number, Model>>(new Map());
/** The source that the buttons of time act on. */
export const focus = signal(0);
/** Sources that scopes and the robot view show besides the first. */
export const hidden = signal<ReadonlySet<number>>(new Set());
export const selection = signal<Selection>(null);
export const diagnostics = signal<readonly Diagnostic[]>([]);
export const log = signal<readonly LogLine[]>([]);
/** What there is to say of recorded runs. */
export const reports = signal<readonly Report[]>([]);
export const problem = signal<string | null>(null);
/** Which text runs; nothing is known of it without a server. */
export const text = signal<RunningText | null>(null);
/** Counts the arrivals of samples and poses; scopes and the robot draw when it changes. */
export const arrived = signal(0);
/** Live values by path, of the source in focus. */
export const values = signal<ReadonlyMap<string, string>>(new Map());
/** Signals that were the first in which two sources parted. */
export const parted = signal<readonly string[]>([]);
export const heat = signal<ReadonlyMap<string, number> | null>(null);

const states = new Map<number, Signal<State | null>>();
const samples = new Map<number, Map<string, Watched>>();
const numbers = new Map<string, Watched>();
export const poses = new Map<number, PoseFrame>();
const meshes = new Map<string, MeshFrame>();
const meshListeners = new Map<string, ((mesh: MeshFrame) => void)[]>();
const wanted = new Map<string, number>();

let link: Link | null = null;

export const live = computed(() => hello.value?.live ?? true);
export const model = computed(() => models.value.get(focus.value) ?? models.value.get(0) ?? null);
export const state = computed(() => stateOf(focus.value).value);
/** The block that is due, while nothing runs. */
export const present = computed(() =>
  state.value && !state.value.running ? state.value.block : null,
);
/** Paths of what is off; a string, so that equal ones are no change. */
const offPaths = computed(() => JSON.stringify(state.value?.off ?? []));
export const off = computed(() => new Set(JSON.parse(offPaths.value) as string[]));
/** Edits that hold now; a string, as above. */
export const edited = computed(() => {
  const { edits = [], step = 0 } = state.value ?? {};
  return JSON.stringify(edits.filter((edit) => edit.step <= step));
});
/** All sources, the run first. */
export const sources = computed(() => [...models.value.keys()].sort((a, b) => a - b));

export function stateOf(source: number): Signal<State | null> {
  let known = states.get(source);
  if (!known) states.set(source, (known = signal<State | null>(null)));
  return known;
}

export function sourceName(source: number): string {
  const known = models.value.get(source);
  return known?.name || (source === 0 ? "main" : `source ${source}`);
}

/** Begins to listen. */
export function start(to: Link): void {
  link = to;
  to.start({ status: onStatus, message: onMessage, frame: onFrame });
}

export async function ask<T = Json>(
  what: string,
  args: Record<string, Json> = {},
  source = focus.value,
): Promise<T> {
  if (!link) throw new Error("no link");
  return (await link.request(source, what, args)) as T;
}

/** Asks, and shows in the console what went wrong. */
export async function attempt<T = Json>(
  what: string,
  args: Record<string, Json> = {},
  source = focus.value,
): Promise<T | null> {
  try {
    return await ask<T>(what, args, source);
  } catch (error) {
    say("error", messageOf(error));
    return null;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const MOST_LINES = 500;

export function say(kind: LogLine["kind"], text: string): void {
  if (!text) return;
  log.value = [...log.value.slice(-MOST_LINES), { kind, text }];
}

/** A line of the language of `legwork step`. */
export async function line(text: string, source = focus.value): Promise<boolean> {
  say("input", text);
  const answer = await attempt<{ text: string }>("line", { text }, source);
  if (answer) say("output", answer.text.replace(/\n$/, ""));
  return answer !== null;
}

function onStatus(to: Status): void {
  status.value = to;
  if (to === "lost") subscribed = "";
}

function onMessage(message: Record<string, Json>): void {
  if (message.hello) {
    hello.value = message.hello as unknown as Hello;
    const there = hello.value.sources;
    // A server that began anew has the run alone.
    if (there) for (const source of sources.value) if (!there.includes(source)) onGone(source);
    document.title = `${hello.value.title} · Legwork`;
    if (hello.value.protocol !== PROTOCOL) {
      const { protocol } = hello.value;
      problem.value = `the server speaks protocol ${protocol}, not ${PROTOCOL}: reload the page`;
    }
  }
  if (message.model) onModel(message.model as unknown as Model);
  if (message.state) onState(message.state as unknown as State);
  if (message.text) text.value = message.text as unknown as RunningText;
  if (message.diagnostics) diagnostics.value = message.diagnostics as unknown as Diagnostic[];
  if (message.watched) {
    register(Number(message.source ?? 0), message.watched as unknown as WatchAnswer);
  }
  if (message.report) reports.value = [...reports.value, message.report as unknown as Report];
  const notice = message.notice as { message?: string } | undefined;
  if (notice?.message) say("output", notice.message);
  if (typeof message.gone === "number") onGone(message.gone);
  if (typeof message.problem === "string") problem.value = message.problem;
}

function onModel(fresh: Model): void {
  const next = new Map(models.value);
  next.set(fresh.source, fresh);
  models.value = next;
  // Numbers of signals are those of a model: ask for them again.
  for (const [key] of [...numbers]) if (key.startsWith(`${fresh.source}:`)) numbers.delete(key);
  if (link?.live)
    for (const path of wanted.keys()) {
      // Another text may not have it.
      subscribe(fresh.source, path).catch(() => {});
    }
}

function onState(fresh: State): void {
  if (fresh.block && !fresh.stage.includes(fresh.block))
    fresh.stage = `${fresh.stage} ${fresh.block}`;
  if (fresh.halt !== undefined) fresh.stopped_by = fresh.halt === "end" ? null : fresh.halt || null;
  stateOf(fresh.source).value = fresh;
  if (fresh.source !== focus.value) return;
  if (fresh.values) values.value = new Map([...values.value, ...textsOf(fresh.values)]);
  if (fresh.heat && heat.value) heat.value = new Map(fresh.heat);
}

function onGone(source: number): void {
  const next = new Map(models.value);
  next.delete(source);
  models.value = next;
  samples.delete(source);
  poses.delete(source);
  if (focus.value === source) focus.value = 0;
  arrived.value++;
}

function sizeOf(source: number): { links: number; robots: number } {
  const robots = models.value.get(source)?.scene?.robots ?? [];
  const links = robots.reduce((sum, robot) => sum + robot.links.length, 0);
  return { links, robots: robots.length };
}

function onFrame(bytes: ArrayBuffer): void {
  const frame = decode(bytes, sizeOf);
  if (!frame) return;
  if (frame.kind === "pose") {
    poses.set(frame.source, frame);
  } else if (frame.kind === "mesh") {
    meshes.set(frame.path, frame);
    for (const then of meshListeners.get(frame.path) ?? []) then(frame);
    meshListeners.delete(frame.path);
  } else {
    for (const block of frame.blocks) {
      const watched = numbers.get(`${frame.source}:${block.signal}`);
      if (!watched || watched.series.leaves !== block.leaves) continue;
      if (block.replaces) watched.series.clear();
      watched.series.append(block.t, block.values);
      watched.series.thinned ||= block.thinned;
    }
  }
  arrived.value++;
}

/** The surface of a mesh, once. */
export function withMesh(source: number, path: string, then: (mesh: MeshFrame) => void): void {
  const known = meshes.get(path);
  if (known) {
    then(known);
    return;
  }
  const waiting = meshListeners.get(path);
  if (waiting) {
    waiting.push(then);
    return;
  }
  meshListeners.set(path, [then]);
  if (link?.live) {
    ask("mesh", { path }, source).catch((error: unknown) => {
      meshListeners.delete(path);
      say("error", messageOf(error));
    });
  }
}

function register(source: number, raw: WatchAnswer): Watched {
  const answer = normal.watch(raw);
  let known = samples.get(source);
  if (!known) samples.set(source, (known = new Map<string, Watched>()));
  const before = known.get(answer.path);
  const same = before && before.series.leaves === answer.leaves;
  const watched = { answer, series: same ? before.series : new Series(answer.leaves) };
  known.set(answer.path, watched);
  numbers.set(`${source}:${answer.signal}`, watched);
  return watched;
}

/** What is known of a signal of a source. */
export function watchedOf(source: number, path: string): Watched | undefined {
  return samples.get(source)?.get(path);
}

/** Paths of all signals of a source of which samples are known. */
export function watchedPaths(source: number): string[] {
  return [...(samples.get(source)?.keys() ?? [])];
}

async function subscribe(source: number, path: string): Promise<Watched> {
  const answer = await ask<WatchAnswer>("watch", { path }, source);
  const watched = register(source, { ...answer, path });
  arrived.value++;
  return watched;
}

/** Watches a signal in all sources, until `release` is called as often. */
export async function watch(path: string): Promise<void> {
  wanted.set(path, (wanted.get(path) ?? 0) + 1);
  const all = sources.value.map((source) => subscribe(source, path));
  const results = await Promise.allSettled(all);
  const failed = results.find((result) => result.status === "rejected");
  if (failed && results.every((result) => result.status === "rejected")) {
    wanted.delete(path);
    throw failed.reason;
  }
}

/** Watches in a source what is watched in the others. */
export async function rewatch(source: number): Promise<void> {
  const missing = [...wanted.keys()].filter((path) => !watchedOf(source, path));
  await Promise.allSettled(missing.map((path) => subscribe(source, path)));
}

export function release(path: string): void {
  const left = (wanted.get(path) ?? 1) - 1;
  if (left > 0) {
    wanted.set(path, left);
    return;
  }
  wanted.delete(path);
  for (const source of sources.value) void ask("unwatch", { path }, source).catch(() => {});
}

// Live values: what the panel and the tooltip want, asked for together.

const interests = new Map<string, readonly string[]>();
let subscribed = "";

/** What is known of the signals whose live values are wanted. */
export const facts = signal<ReadonlyMap<string, Facts>>(new Map());

/** Sets the paths that a part of the page wants live values of. */
export function follow(part: string, paths: readonly string[]): void {
  if (paths.length) interests.set(part, paths);
  else interests.delete(part);
  void refresh();
}

function textsOf(values: Values): [string, string][] {
  const entries: [string, Live][] = Array.isArray(values) ? values : Object.entries(values);
  return entries.map(([path, value]) => {
    if (value === null) return [path, "–"];
    // The language of `step` says whose value it is.
    const said = `${path}: `;
    if (typeof value === "string") {
      return [path, value.startsWith(said) ? value.slice(said.length) : value];
    }
    const unit = watchedOf(focus.value, path)?.answer.unit ?? units.get(path) ?? "";
    return [path, unit ? `${vector(value)} ${unit}` : vector(value)];
  });
}

/** Units of ports, as far as blocks have told them. */
const units = new Map<string, string>();

async function refresh(): Promise<void> {
  const paths = [...new Set([...interests.values()].flat())].sort();
  const key = `${focus.value} ${paths.join(" ")}`;
  if (key === subscribed || !link?.live || status.value !== "open") return;
  subscribed = key;
  try {
    const answer = await ask<{ values?: Values; facts?: [string, Facts][] }>("values", { paths });
    if (answer.values) values.value = new Map(textsOf(answer.values));
    if (answer.facts) facts.value = new Map(answer.facts);
  } catch {
    subscribed = "";
  }
}

effect(() => {
  // Whoever is in focus, and whenever the server is found again.
  void focus.value;
  if (status.value === "open") void refresh();
});

/** The value of a watched signal at the present time, where no server tells it. */
export function replayed(path: string): string | null {
  const watched = watchedOf(focus.value, path);
  const t = state.value?.t;
  if (!watched || t === undefined) return null;
  const row = watched.series.at(t + 1e-9);
  if (row < 0) return null;
  const text = vector(watched.series.columns.map((column) => column[row]!));
  return watched.answer.unit ? `${text} ${watched.answer.unit}` : text;
}

const blockCache = new Map<string, Promise<BlockAnswer>>();

/** What the server says about a block; what does not change is asked once. */
export function block(path: string, anew = false): Promise<BlockAnswer> {
  const key = `${focus.value}:${path}`;
  let known = anew ? undefined : blockCache.get(key);
  if (!known) {
    known = ask<BlockAnswer>("block", { path }).then(remembered);
    known.catch(() => blockCache.delete(key));
    blockCache.set(key, known);
  }
  return known;
}

function remembered(raw: BlockAnswer): BlockAnswer {
  const answer = normal.block(raw);
  for (const { path, unit } of answer.outputs) if (unit) units.set(path, unit);
  return answer;
}

effect(() => {
  void models.value;
  void edited.value;
  blockCache.clear();
});

export async function choices(): Promise<Choices> {
  return normal.choices(await ask<Choices>("choices"));
}

export function poseCount(frame: PoseFrame): number {
  return Math.floor(frame.data.length / POSE);
}

/** How often blocks are measured while their heat is shown [ms]. */
const MEASURE = 3000;
let measuring = 0;

/** Begins or ends the measuring of blocks. */
export async function toggleHeat(): Promise<void> {
  const on = heat.value === null;
  clearInterval(measuring);
  const measure = async () => {
    const answer = await attempt<{ blocks?: [string, number][] }>("heat", { on: true });
    if (answer) heat.value = new Map(answer.blocks ?? []);
  };
  if (on) {
    await measure();
    measuring = window.setInterval(() => {
      if (!document.hidden && status.value === "open") void measure();
    }, MEASURE);
  } else {
    heat.value = null;
    await attempt("heat", { on: false });
  }
}
