// A stream of messages that is embedded in the page: a run that is replayed without a server.

import type { Json, State } from "../protocol";
import { type Link, type Listener, Refusal } from "./link";

/** Id of the element that holds the stream: base64 of gzip of messages with lengths. */
export const ELEMENT = "legwork-run";
const POSE_KIND = 1;
const MESH_KIND = 3;
/** Frames a second that are shown. */
const PERIOD = 1 / 60;

export interface Stored {
  request: Record<string, Json>;
  ok: Json;
}

/** Splits a stream: u32 length, u8 kind (0 text, 1 binary), bytes. */
export function* messages(bytes: Uint8Array): Generator<string | ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  let at = 0;
  while (at + 5 <= bytes.length) {
    const length = view.getUint32(at, true);
    const kind = view.getUint8(at + 4);
    const part = bytes.subarray(at + 5, at + 5 + length);
    if (part.length < length) throw new RangeError("the recording in this page is cut off");
    yield kind === 0 ? decoder.decode(part) : part.slice().buffer;
    at += 5 + length;
  }
}

/** The stored answer to a request: all that it asks for must be equal, or the nearest drawing. */
export function answerTo(
  stored: readonly Stored[],
  what: string,
  args: Record<string, Json>,
): Json | undefined {
  const same = (a: Json | undefined, b: Json | undefined) =>
    JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
  const candidates = stored.filter((one) => one.request.do === what);
  const exact = candidates.find(({ request }) =>
    Object.entries(args).every(([key, value]) => same(request[key], value)),
  );
  if (exact) return exact.ok;
  if (what === "draw") return nearest(candidates, args)?.ok;
  if (what === "text" || what === "choices") return candidates[0]?.ok;
  return undefined;
}

/** The drawing with the fewest frames among those in which all wanted ones are open. */
function nearest(candidates: readonly Stored[], args: Record<string, Json>): Stored | undefined {
  const wanted = Array.isArray(args.open) ? args.open : null;
  const framesOf = (one: Stored) => {
    const drawing = (one.ok as { drawing?: { schematic?: { frames?: { path: string }[] } } })
      .drawing;
    return drawing?.schematic?.frames ?? [];
  };
  const fits = candidates.filter((one) => {
    const paths = new Set(framesOf(one).map((frame) => frame.path));
    return wanted?.every((path) => paths.has(String(path))) ?? false;
  });
  const pool = fits.length ? fits : [...candidates].reverse();
  return fits.length
    ? pool.reduce((a, b) => (framesOf(b).length < framesOf(a).length ? b : a))
    : pool.reduce<Stored | undefined>(
        (a, b) => (!a || framesOf(b).length > framesOf(a).length ? b : a),
        undefined,
      );
}

export class OfflineLink implements Link {
  readonly live = false;
  private listener: Listener | null = null;
  private readonly stored: Stored[] = [];
  private readonly poses: { t: number; bytes: ArrayBuffer }[] = [];
  private state: State | null = null;
  private timer = 0;
  private reach = 0;

  constructor(private readonly text: string) {}

  start(listener: Listener): void {
    this.listener = listener;
    void this.load(listener).catch((error: unknown) => {
      const problem = `the recording in this page cannot be read: ${String(error)}`;
      listener.message({ problem });
    });
  }

  private async load(listener: Listener): Promise<void> {
    const compressed = Uint8Array.from(atob(this.text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const meshes: ArrayBuffer[] = [];
    const samples: ArrayBuffer[] = [];
    const later: Record<string, Json>[] = [];
    for (const message of messages(bytes)) {
      if (typeof message !== "string") {
        const view = new DataView(message);
        const kind = view.getUint32(0, true);
        if (kind === POSE_KIND) this.poses.push({ t: view.getFloat64(16, true), bytes: message });
        else (kind === MESH_KIND ? meshes : samples).push(message);
        continue;
      }
      const json = JSON.parse(message) as Record<string, Json>;
      if (json.answer) {
        this.stored.push({ request: json.answer as Record<string, Json>, ok: json.ok ?? {} });
      } else {
        if (json.state) this.state = json.state as unknown as State;
        later.push(json);
      }
    }
    this.poses.sort((a, b) => a.t - b.t);
    this.reach = Math.max(this.state?.t ?? 0, this.poses.at(-1)?.t ?? 0);
    for (const json of later) listener.message(json);
    listener.status("replay");
    // Samples are of signals whose numbers the answers to `watch` tell.
    for (const one of this.stored) {
      if (one.request.do === "watch") listener.message({ watched: one.ok });
    }
    for (const frame of [...meshes, ...samples]) listener.frame(frame);
    this.seek(this.poses[0]?.t ?? 0);
  }

  async request(_source: number, what: string, args: Record<string, Json> = {}): Promise<Json> {
    switch (what) {
      case "run":
        this.run(args.speed === null ? 1 : Number(args.speed ?? 1));
        return {};
      case "pause":
        this.pause();
        return {};
      case "seek":
        this.pause();
        this.seek(Number(args.t));
        return {};
      case "values":
      case "unwatch":
      case "mesh":
        return { values: [] };
      case "line":
        return this.line(String(args.text ?? ""));
      default: {
        const answer = answerTo(this.stored, what, args);
        if (answer !== undefined) return answer;
        throw new Refusal(`a page without a server has no answer to \`${what}\``);
      }
    }
  }

  /** Travels that need no server: `step`, `back`, `goto`, `until`. */
  private line(text: string): Json {
    const [word, argument, unit] = text.trim().split(/\s+/);
    const state = this.state;
    const count = Number(argument ?? 1) || 1;
    const at = this.indexAt(state?.t ?? 0);
    const time = Number.parseFloat(argument ?? "") * (unit === "ms" ? 1e-3 : 1);
    const go = (index: number) => {
      const pose = this.poses[Math.max(0, Math.min(this.poses.length - 1, index))];
      if (pose) this.seek(pose.t);
    };
    this.pause();
    if (word === "step" || word === "next") go(at + count);
    else if (word === "back") go(at - count);
    else if ((word === "goto" || word === "until") && Number.isFinite(time)) this.seek(time);
    else
      throw new Refusal("this page replays a recording: step, back and goto work without a server");
    return { text: `t=${this.state?.t ?? 0} s` };
  }

  private indexAt(t: number): number {
    let [low, high] = [0, this.poses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.poses[middle]!.t <= t + 1e-12) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private seek(t: number): void {
    if (!this.state) return;
    const time = Math.max(0, Math.min(this.reach, t));
    this.publish({ t: time, end: time >= this.reach, step: Math.round(time / this.period()) });
  }

  private period(): number {
    return this.state?.t && this.state.step ? this.state.t / this.state.step : 1e-3;
  }

  private publish(change: Partial<State>): void {
    if (!this.state) return;
    this.state = { ...this.state, reach: this.reach, ...change };
    this.listener?.message({ state: this.state as unknown as Json });
    const pose = this.poses[Math.max(0, this.indexAt(this.state.t))];
    if (pose) this.listener?.frame(pose.bytes);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = 0;
    if (this.state?.running) this.publish({ running: false });
  }

  private run(speed: number): void {
    clearInterval(this.timer);
    const state = this.state;
    if (!state) return;
    const from = state.t >= this.reach ? 0 : state.t;
    const began = performance.now();
    this.timer = window.setInterval(() => {
      const t = from + (speed * (performance.now() - began)) / 1000;
      if (t >= this.reach) {
        clearInterval(this.timer);
        this.timer = 0;
        this.publish({ t: this.reach, running: false, end: true });
      } else {
        this.publish({ t, running: true, speed, achieved: speed, end: false });
      }
    }, 1000 * PERIOD);
  }
}
