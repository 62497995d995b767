// A console with the language of `legwork step`, and lists of breakpoints and watches.

import { useEffect, useRef, useState } from "preact/hooks";
import * as app from "../app";
import { icons } from "../ui/icons";

const KEY = "legwork-history";
const MOST = 200;

function load(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as string[];
  } catch {
    return [];
  }
}

const history = load();

export function Console() {
  const end = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const at = useRef(history.length);
  const lines = app.log.value;

  useEffect(() => {
    const list = end.current;
    if (list) list.scrollTop = list.scrollHeight;
  }, [lines]);

  const submit = (event: Event) => {
    event.preventDefault();
    const line = text.trim();
    if (!line) return;
    if (history.at(-1) !== line) history.push(line);
    history.splice(0, history.length - MOST);
    at.current = history.length;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(history));
    } catch {
      // Without storage the history lasts as long as the page.
    }
    setText("");
    void app.line(line);
  };

  const key = (event: KeyboardEvent) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!by) return;
    event.preventDefault();
    at.current = Math.min(history.length, Math.max(0, at.current + by));
    setText(history[at.current] ?? "");
  };

  return (
    <section class="console" aria-label="Console">
      <div class="lines num" ref={end} role="log">
        {lines.length === 0 && (
          <p class="faint">
            The language of <code>legwork step</code>: <code>step 3</code>,{" "}
            <code>back 3 steps</code>, <code>until 0.4 s</code>, <code>break x.y &gt; 2</code>,{" "}
            <code>print pd</code>, <code>set pd.kp 80</code>, <code>where</code>, <code>help</code>
          </p>
        )}
        {lines.map(({ kind, text: words }, i) => (
          <pre key={i} class={kind}>
            {words}
          </pre>
        ))}
      </div>
      <form onSubmit={submit}>
        <span aria-hidden="true">&gt;</span>
        <input
          id="console"
          class="num"
          aria-label="Command"
          autocomplete="off"
          spellcheck={false}
          placeholder="command  (:)"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={key}
        />
      </form>
    </section>
  );
}

export function Stops() {
  const state = app.state.value;
  const [condition, setCondition] = useState("");
  const [path, setPath] = useState("");
  const add = (what: string, value: string, clear: (to: string) => void) => (event: Event) => {
    event.preventDefault();
    if (value.trim()) void app.line(`${what} ${value.trim()}`).then((done) => done && clear(""));
  };
  return (
    <section class="stops" aria-label="Breakpoints and watches">
      <h3>Breakpoints</h3>
      <ul>
        {state?.breakpoints.map(([index, text]) => (
          <li key={index} class={state.stopped_by?.includes(`breakpoint ${index}`) ? "hit" : ""}>
            <span class="num">{index}</span> <code>{text}</code>
            <button
              aria-label={`Delete breakpoint ${index}`}
              onClick={() => void app.line(`delete ${index}`)}
            >
              {icons.close}
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={add("break", condition, setCondition)}>
        <input
          class="num"
          aria-label="Condition or block"
          placeholder="block, or condition such as pd.tau[0] > 20"
          value={condition}
          onInput={(event) => setCondition(event.currentTarget.value)}
        />
        <button aria-label="Add breakpoint">{icons.plus}</button>
      </form>
      <h3>Watches</h3>
      <ul>
        {state?.watches.map(([name, value], i) => (
          <li key={name}>
            <code>{name}</code> <output class="num">{value}</output>
            <button
              aria-label={`Remove watch ${name}`}
              onClick={() => void app.line(`unwatch ${i + 1}`)}
            >
              {icons.close}
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={add("watch", path, setPath)}>
        <input
          class="num"
          aria-label="Signal"
          placeholder="signal, such as body.state.base.position"
          value={path}
          onInput={(event) => setPath(event.currentTarget.value)}
        />
        <button aria-label="Add watch">{icons.plus}</button>
      </form>
    </section>
  );
}
