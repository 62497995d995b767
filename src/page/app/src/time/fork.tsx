// Sources: the run, its forks; the dialog that makes one; the table of differences.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as app from "../app";
import type { Choices, CompareRow, ForkAnswer } from "../protocol";
import { difference, largest } from "../scopes/decimate";
import { addToScope, change, scopes } from "../scopes/scopes";
import { number } from "../ui/format";
import { icons } from "../ui/icons";
import { tab } from "../ui/tabs";

export const forking = signal(false);
/** Choices that the dialog begins with. */
export const proposed = signal<Record<string, string>>({});

/** Tabs of sources; the one in focus is what buttons of time act on. */
export function Sources() {
  const all = app.sources.value;
  return (
    <div class="sources" role="tablist" aria-label="Sources">
      {all.map((source) => (
        <span key={source} class={`source${source === app.focus.value ? " focus" : ""}`}>
          <button
            role="tab"
            aria-selected={source === app.focus.value}
            title={app.models.value.get(source)?.title}
            onClick={() => (app.focus.value = source)}
          >
            {app.sourceName(source)}
          </button>
          {all.length > 1 && (
            <button
              aria-label={`Show ${app.sourceName(source)}`}
              title="Show it in scopes and room"
              aria-pressed={!app.hidden.value.has(source)}
              onClick={() => {
                const next = new Set(app.hidden.value);
                if (!next.delete(source)) next.add(source);
                app.hidden.value = next;
              }}
            >
              {app.hidden.value.has(source) ? "○" : "●"}
            </button>
          )}
          {source > 0 && app.live.value && (
            <button
              aria-label={`Close ${app.sourceName(source)}`}
              title="End this source"
              onClick={() => void app.attempt("close", {}, source)}
            >
              {icons.close}
            </button>
          )}
        </span>
      ))}
      {app.live.value && (
        <button
          title="From here on, two ways side by side (f)"
          id="fork"
          onClick={() => (forking.value = true)}
        >
          {icons.fork} fork
        </button>
      )}
    </div>
  );
}

export function ForkDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [choices, setChoices] = useState<Choices | null>(null);
  const [name, setName] = useState("");
  const [picked, setPicked] = useState<Record<string, string>>({});
  const [rows, setRows] = useState<[string, string][]>([["", ""]]);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    const element = dialog.current!;
    if (!forking.value) {
      element.close();
      return;
    }
    element.showModal();
    setError("");
    setPicked(proposed.value);
    proposed.value = {};
    setRows([["", ""]]);
    const taken = new Set(app.sources.value.map((source) => app.sourceName(source)));
    let count = 1;
    while (taken.has(`fork-${count}`)) count++;
    setName(`fork-${count}`);
    app.choices().then(setChoices, (problem: unknown) => setError(app.messageOf(problem)));
  }, [forking.value]);

  const submit = async (event: Event) => {
    event.preventDefault();
    const changes: [string, string][] = [
      ...Object.entries(picked).filter(([, choice]) => choice !== ""),
      ...rows.filter(([path, value]) => path.trim() && value.trim()),
    ];
    setBusy(true);
    try {
      await app.ask("pause");
      const { source, fresh } = await app.ask<ForkAnswer>("fork", { name: name.trim(), changes });
      app.say("output", `${name} is forked from ${app.sourceName(app.focus.value)}`);
      for (const [block, why] of fresh) app.say("output", `  begins anew  ${block}: ${why}`);
      await app.rewatch(source);
      forking.value = false;
      tab.value = "differences";
    } catch (problem) {
      setError(app.messageOf(problem));
    }
    setBusy(false);
  };

  const paths = choices?.parameters.map((parameter) => parameter.path) ?? [];
  return (
    <dialog
      ref={dialog}
      class="fork"
      aria-labelledby="fork-title"
      onClose={() => (forking.value = false)}
    >
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="fork-title">Fork at t = {number(app.state.value?.t ?? 0)} s</h2>
        <p class="faint">States are carried over by path. Both ways start from the same instant.</p>
        <label class="row">
          <span>name</span>
          <input
            id="fork-name"
            value={name}
            required
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        {choices?.variants.map((variant) => (
          <label key={variant.name} class="row">
            <span>{variant.name}</span>
            <select
              data-variant={variant.name}
              value={picked[variant.name] ?? ""}
              onChange={(event) =>
                setPicked({ ...picked, [variant.name]: event.currentTarget.value })
              }
            >
              <option value="">as it is{variant.chosen ? `: ${variant.chosen}` : ""}</option>
              {variant.choices.map((choice) => (
                <option key={choice} value={choice}>
                  {choice}
                </option>
              ))}
            </select>
          </label>
        ))}
        <datalist id="fork-paths">
          {paths.map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        {rows.map(([path, value], i) => {
          const set = (row: [string, string]) => {
            const next = rows.map((old, j) => (j === i ? row : old));
            if (next.at(-1)?.[0]) next.push(["", ""]);
            setRows(next);
          };
          const known = choices?.parameters.find((parameter) => parameter.path === path);
          return (
            <div key={i} class="row">
              <input
                aria-label="Parameter"
                placeholder="parameter, such as kp"
                list="fork-paths"
                value={path}
                onInput={(event) => set([event.currentTarget.value, value])}
              />
              <input
                class="num"
                aria-label="Value"
                placeholder={known ? `${known.value} ${known.unit}` : "value"}
                value={value}
                onInput={(event) => set([path, event.currentTarget.value])}
              />
            </div>
          );
        })}
        {error && <pre class="bad">{error}</pre>}
        <footer>
          <button type="button" onClick={() => (forking.value = false)}>
            cancel
          </button>
          <button class="primary" disabled={busy} id="fork-go">
            fork
          </button>
        </footer>
      </form>
    </dialog>
  );
}

/** The same table of recordings, which are all in the page. */
function recordedDifferences(a: number, b: number): CompareRow[] {
  const rows: CompareRow[] = [];
  for (const path of app.watchedPaths(a)) {
    const [left, right] = [app.watchedOf(a, path), app.watchedOf(b, path)];
    if (!left || !right) continue;
    const most = largest(difference(left.series, right.series));
    if (most) {
      const { size, t, first } = most;
      rows.push({ path, unit: left.answer.unit, difference: size, t, first });
    }
  }
  return rows.sort((x, y) => y.difference - x.difference);
}

export function Differences() {
  const all = app.sources.value;
  const [pair, setPair] = useState<[number, number]>([0, 1]);
  const [rows, setRows] = useState<CompareRow[]>([]);
  const [error, setError] = useState("");
  const [a, b] = [
    pair[0],
    all.includes(pair[1]) ? pair[1] : (all.find((s) => s !== pair[0]) ?? pair[0]),
  ];
  const asked = useRef({ busy: false, again: false });
  const compare = () => {
    if (!app.live.value) {
      setRows(recordedDifferences(a, b));
      return;
    }
    // Both runs are repeated for it: one comparison at a time, and then the newest.
    if (asked.current.busy) {
      asked.current.again = true;
      return;
    }
    asked.current = { busy: true, again: false };
    void app
      .ask<{ rows: CompareRow[] }>("compare", { a, b }, a)
      .then(
        (answer) => {
          setError("");
          setRows(answer.rows);
        },
        (problem: unknown) => setError(app.messageOf(problem)),
      )
      .then(() => {
        const { again } = asked.current;
        asked.current.busy = false;
        if (again) newest.current();
      });
  };
  const newest = useRef(compare);
  newest.current = compare;
  // While one of them runs, the table waits until both stand, or for the button.
  const running = app.live.value && [a, b].some((source) => app.stateOf(source).value?.running);
  useEffect(() => {
    if (all.length > 1 && !running) compare();
  }, [a, b, all.length, running, app.live.value && !running ? app.state.value?.t : 0]);
  const timed = rows.some(({ first }) => typeof first === "number");
  const earliest = Math.min(...rows.map(({ first }) => first ?? Infinity));
  useEffect(() => {
    const parted = rows.filter((row) => row.first === earliest).map(({ path }) => path);
    app.parted.value = timed ? parted : [];
    return () => {
      app.parted.value = [];
    };
  }, [rows]);
  if (all.length < 2)
    return <p class="empty">Fork the run, and what parts the two ways most stands here.</p>;
  const inScopes = (path: string) => {
    void addToScope(path, true).then(() => {
      const last = scopes.value.at(-1);
      if (last) change(last.id, { mode: "difference", pair: [a, b] });
    });
  };
  const choose = (index: 0 | 1) => (
    <select
      aria-label={index ? "Second source" : "First source"}
      value={index ? b : a}
      onChange={(event) => {
        const to = Number(event.currentTarget.value);
        setPair(index ? [a, to] : [to, b]);
      }}
    >
      {all.map((source) => (
        <option key={source} value={source}>
          {app.sourceName(source)}
        </option>
      ))}
    </select>
  );
  return (
    <section class="differences" aria-label="Largest differences">
      <div class="tools">
        {choose(0)} − {choose(1)}
        <button onClick={compare}>compare again</button>
        <button
          title="Run both"
          disabled={!app.live.value}
          onClick={() => {
            for (const source of [a, b]) void app.attempt("run", { speed: 1 }, source);
          }}
        >
          run both
        </button>
      </div>
      {running && <p class="faint">The table follows when both stand.</p>}
      {error && <p class="bad">{error}</p>}
      <table>
        <thead>
          <tr>
            <th>signal</th>
            <th class="num">largest difference</th>
            <th>unit</th>
            <th class="num">at t [s]</th>
            {timed && <th class="num">apart from t [s]</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.path}>
              <td>
                <button
                  class="link"
                  title="Their difference in a scope"
                  onClick={() => inScopes(row.path)}
                >
                  {row.path}
                </button>
              </td>
              <td class="num">{number(row.difference, 4)}</td>
              <td>{row.unit}</td>
              <At t={row.t} />
              {timed && <At t={row.first ?? null} marked={row.first === earliest} />}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A time in the table, and the way there. */
function At({ t, marked = false }: { t: number | null; marked?: boolean }) {
  return (
    <td class={`num${marked ? " warn" : ""}`}>
      {t !== null && (
        <button
          class="link num"
          title={marked ? "The first to part; go there" : "Go there"}
          onClick={() => void app.attempt("seek", { t })}
        >
          {number(t)}
        </button>
      )}
    </td>
  );
}
