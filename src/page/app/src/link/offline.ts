// A stream of messages that is embedded in the page: a run that is replayed without a server.

import type { Json, State } from "../protocol";
import { type Link, type Listener, Refusal } from "./link";

/** Id of the element that holds the stream: base64 of gzip of messages with lengths. */
export const ELEMENT = "legwork-run";
const POSE_KIND = 1;
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

interface Recorded {
  state: State;
  reach: number;
  poses: { t: number; bytes: ArrayBuffer }[];
}

export class OfflineLink implements Link {
  readonly live = false;
  private listener: Listener | null = null;
  /** Answers by source. */
  private readonly stored = new Map<number, Stored[]>();
  private readonly runs = new Map<number, Recorded>();
  private t = 0;
  private running = false;
  private timer = 0;

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
    const frames: ArrayBuffer[] = [];
    const poses: ArrayBuffer[] = [];
    const later: Record<string, Json>[] = [];
    for (const message of messages(bytes)) {
      if (typeof message !== "string") {
        const kind = new DataView(message).getUint32(0, true);
        (kind === POSE_KIND ? poses : frames).push(message);
        continue;
      }
      const json = JSON.parse(message) as Record<string, Json>;
      if (json.answer) {
        const request = json.answer as Record<string, Json>;
        const source = Number(request.source ?? 0);
        this.stored.set(source, [
          ...(this.stored.get(source) ?? []),
          { request, ok: json.ok ?? {} },
        ]);
      } else if (json.state) {
        const state = json.state as unknown as State;
        this.runs.set(state.source, { state, reach: state.reach ?? state.t, poses: [] });
      } else later.push(json);
    }
    for (const frame of poses) {
      const view = new DataView(frame);
      this.runs
        .get(view.getUint32(8, true))
        ?.poses.push({ t: view.getFloat64(16, true), bytes: frame });
    }
    for (const run of this.runs.values()) {
      run.poses.sort((a, b) => a.t - b.t);
      run.reach = Math.max(run.reach, run.poses.at(-1)?.t ?? 0);
    }
    for (const json of later) listener.message(json);
    listener.status("replay");
    // Samples are of signals whose numbers the answers to `watch` tell.
    for (const [source, answers] of this.stored) {
      for (const { request, ok } of answers) {
        if (request.do === "watch") listener.message({ watched: ok, source });
      }
    }
    for (const frame of frames) listener.frame(frame);
    this.seek(Math.min(0, ...[...this.runs.values()].map((run) => run.poses[0]?.t ?? 0)));
  }

  async request(source: number, what: string, args: Record<string, Json> = {}): Promise<Json> {
    switch (what) {
      case "run":
        this.run(typeof args.speed === "number" ? args.speed : 10);
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
        return this.line(source, String(args.text ?? ""));
      default: {
        const answer = answerTo(this.stored.get(source) ?? [], what, args);
        if (answer !== undefined) return answer;
        throw new Refusal(`a page without a server has no answer to \`${what}\``);
      }
    }
  }

  /** Travels that need no server: `step`, `back`, `goto`, `until`. */
  private line(source: number, text: string): Json {
    const [word, argument, unit] = text.trim().split(/\s+/);
    const count = Number(argument ?? 1) || 1;
    const period = this.period(source);
    const time = Number.parseFloat(argument ?? "") * (unit === "ms" ? 1e-3 : 1);
    this.pause();
    if (word === "step" || word === "next") this.seek(this.t + count * period);
    else if (word === "back") this.seek(this.t - count * period);
    else if ((word === "goto" || word === "until") && Number.isFinite(time)) this.seek(time);
    else {
      const words = "this page replays a recording: step, back and goto work without a server";
      throw new Refusal(words);
    }
    return { text: `t=${Number(this.t.toFixed(9))} s` };
  }

  /** The period of a step, as the end tells it. */
  private period(source: number): number {
    const { state } = this.runs.get(source) ?? {};
    return state && state.t > 0 && state.step > 0 ? state.t / state.step : 1e-3;
  }

  private reach(): number {
    return Math.max(0, ...[...this.runs.values()].map((run) => run.reach));
  }

  private seek(t: number): void {
    const reach = this.reach();
    this.t = Math.max(0, Math.min(reach, Number.isFinite(t) ? t : 0));
    // Rounding gathers in steps.
    if (Math.abs(this.t - reach) < 1e-9) this.t = reach;
    this.publish(1);
  }

  /** Tells where all sources are. */
  private publish(speed: number): void {
    for (const [source, { state, reach, poses }] of this.runs) {
      const t = Math.min(this.t, reach);
      const now: State = {
        ...state,
        t,
        reach,
        speed,
        step: Math.round(t / this.period(source)),
        running: this.running,
        achieved: this.running ? speed : null,
        end: t >= reach,
        block: null,
        stage: t >= reach ? state.stage : "",
        fault: t >= reach ? state.fault : null,
      };
      this.listener?.message({ state: now as unknown as Json });
      const pose = poses[Math.max(0, newest(poses, t))];
      if (pose) this.listener?.frame(pose.bytes);
    }
  }

  private pause(): void {
    clearInterval(this.timer);
    if (!this.running) return;
    this.running = false;
    this.publish(1);
  }

  private run(speed: number): void {
    clearInterval(this.timer);
    const from = this.t >= this.reach() ? 0 : this.t;
    const began = performance.now();
    this.running = true;
    this.timer = window.setInterval(() => {
      this.t = from + (speed * (performance.now() - began)) / 1000;
      if (this.t >= this.reach()) {
        this.t = this.reach();
        this.pause();
      } else this.publish(speed);
    }, 1000 * PERIOD);
  }
}

/** Index of the newest pose at or before `t`; -1 if there is none. */
function newest(poses: readonly { t: number }[], t: number): number {
  let [low, high] = [0, poses.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (poses[middle]!.t <= t + 1e-12) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
