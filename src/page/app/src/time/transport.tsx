// The bar of time: buttons, clock, speed, slider.

import { useState } from "preact/hooks";
import * as app from "../app";
import { number, seconds } from "../ui/format";
import { icons } from "../ui/icons";
import * as time from "./controls";

export function Transport() {
  const state = app.state.value;
  const model = app.model.value;
  const running = state?.running ?? false;
  const [entry, setEntry] = useState<string | null>(null);
  const step = model?.step ?? 1e-3;
  const t = state?.t ?? 0;
  const horizon = time.horizon();
  const reach = Math.max(state?.reach ?? 0, t);

  const go = (event: Event) => {
    event.preventDefault();
    const text = entry?.trim() ?? "";
    setEntry(null);
    if (!text) return;
    const plain = /^[\d.eE+-]+$/.test(text);
    if (plain) void time.seek(Number(text));
    else void goTo(text);
  };

  return (
    <div class="transport" role="toolbar" aria-label="Time">
      <button
        aria-label="To the start"
        title="To the start (Home)"
        onClick={() => void time.seek(0)}
      >
        {icons.start}
      </button>
      <button aria-label="One step back" title="One step back (,)" onClick={() => void time.back()}>
        {icons.back}
      </button>
      <button
        class="primary"
        id="run"
        aria-label={running ? "Pause" : "Run"}
        title={running ? "Pause (space)" : "Run (space)"}
        onClick={() => void time.toggle()}
      >
        {running ? icons.pause : icons.run}
      </button>
      <button aria-label="One step" title="One step (.)" onClick={() => void time.step()}>
        {icons.step}
      </button>
      <button
        aria-label="One block"
        title="One block (n)"
        disabled={!app.live.value}
        onClick={() => void time.next()}
      >
        {icons.next}
      </button>
      <form onSubmit={go}>
        <input
          class="clock num"
          id="clock"
          aria-label="Time in seconds; a condition goes on until it holds"
          title={
            "Time [s]: a number goes there, a condition such as " +
            "body.state.base.position[2] < 0.3 goes on until it holds (t)"
          }
          value={entry ?? seconds(t, step)}
          onFocus={(event) => {
            setEntry(seconds(t, step));
            event.currentTarget.select();
          }}
          onInput={(event) => setEntry(event.currentTarget.value)}
          onBlur={() => setEntry(null)}
        />
        <span class="faint">s</span>
      </form>
      <span class="faint num steps">step {state?.step ?? 0}</span>
      <input
        class="slider"
        type="range"
        min={0}
        max={horizon}
        step={step}
        value={t}
        aria-label="Time"
        title={seamsText(state?.seams ?? [])}
        aria-valuetext={`${seconds(t, step)} s`}
        style={{
          "--known": `${Math.min(100, (100 * reach) / horizon)}%`,
          "--at": `${Math.min(100, (100 * t) / horizon)}%`,
        }}
        onInput={(event) => void time.seek(event.currentTarget.valueAsNumber)}
      />
      <span class="faint num">{number(horizon, 4)} s</span>
      <label class="speed">
        <span class="hidden">Speed</span>
        <select
          title="Speed (< and >)"
          value={String(time.speed.value)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            void time.setSpeed(value === "null" ? null : Number(value));
          }}
        >
          {time.SPEEDS.map((speed) => (
            <option key={String(speed)} value={String(speed)}>
              {speed === null ? "fastest" : `${speed} ×`}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** What going back over edits of the text means. */
function seamsText(seams: readonly number[]): string {
  if (!seams.length) return "";
  const times = seams.map((t) => `${number(t)} s`).join(", ");
  return `The text changed at ${times}: going back before brings the text of then`;
}

/** Goes on to a condition: a breakpoint that goes when it has been met. */
async function goTo(condition: string): Promise<void> {
  const known = new Set(app.state.value?.breakpoints.map(([index]) => index) ?? []);
  if (!(await app.line(`break ${condition}`))) return;
  await app.line("continue");
  const fresh = app.state.value?.breakpoints.find(([index]) => !known.has(index));
  if (fresh) await app.line(`delete ${fresh[0]}`);
}

/** What the run is doing, in words. */
export function Where() {
  const state = app.state.value;
  if (!state) return null;
  const achieved =
    state.running && state.achieved !== null ? `${number(state.achieved, 3)} × real time` : "";
  return (
    <span class="where" role="status">
      {state.fault ? (
        <b class="bad" title={state.fault}>
          fault: {state.fault}
        </b>
      ) : state.running ? (
        <>
          running <span class="num">{achieved}</span>
        </>
      ) : (
        <>
          {state.stopped_by && <b>{state.stopped_by} · </b>}
          {state.end ? "end" : state.stage}
        </>
      )}
    </span>
  );
}
