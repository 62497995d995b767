// Keys of the whole page, and the sheet that lists all.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import * as app from "../app";
import { forking } from "../time/fork";
import * as time from "../time/controls";
import { saveRecording } from "../time/record";
import { tab } from "./tabs";
import { toggle as toggleTheme } from "./theme";

export const sheet = signal(false);

const focusOn = (id: string) => document.getElementById(id)?.focus();

/** The plot of the next scope. */
function toScope(): void {
  const plots = [...document.querySelectorAll<HTMLElement>(".plot")];
  const at = plots.findIndex((plot) => plot === document.activeElement);
  plots[(at + 1) % plots.length]?.focus();
}

interface Key {
  keys: readonly string[];
  shown?: string;
  what: string;
  do(): unknown;
}

const KEYS: readonly Key[] = [
  { keys: [" "], shown: "space", what: "run, pause", do: time.toggle },
  { keys: ["."], what: "one step", do: () => time.step() },
  { keys: [","], what: "one step back", do: () => time.back() },
  { keys: ["n"], what: "one block", do: time.next },
  { keys: ["]"], what: "ten steps", do: () => time.step(10) },
  { keys: ["["], what: "ten steps back", do: () => time.back(10) },
  { keys: ["Home"], what: "to the start", do: () => time.seek(0) },
  { keys: [">"], what: "faster", do: () => time.faster(1) },
  { keys: ["<"], what: "slower", do: () => time.faster(-1) },
  { keys: ["t"], what: "go to a time or condition", do: () => focusOn("clock") },
  { keys: ["w"], what: "save the recording", do: () => app.live.value && saveRecording() },
  { keys: ["f"], what: "fork", do: () => (forking.value = app.live.value) },
  { keys: ["Tab"], shown: "Tab, Shift+Tab", what: "from part to part", do: () => {} },
  { keys: ["d"], what: "to the diagram", do: () => focusOn("diagram") },
  { keys: ["r"], what: "to the robot", do: () => focusOn("robot") },
  { keys: ["s"], what: "to the scopes, one after the other", do: toScope },
  { keys: ["/"], what: "find a block", do: () => focusOn("search") },
  {
    keys: [":"],
    what: "to the console",
    do: () => {
      tab.value = "console";
      setTimeout(() => focusOn("console"));
    },
  },
  { keys: ["1"], what: "console", do: () => (tab.value = "console") },
  { keys: ["2"], what: "parameters", do: () => (tab.value = "parameters") },
  { keys: ["3"], what: "text", do: () => (tab.value = "text") },
  { keys: ["4"], what: "breakpoints and watches", do: () => (tab.value = "stops") },
  { keys: ["5"], what: "differences", do: () => (tab.value = "differences") },
  { keys: ["l"], what: "light, dark", do: toggleTheme },
  {
    keys: ["Escape"],
    what: "close what is open, leave a field",
    do: () => {
      app.selection.value = null;
    },
  },
  { keys: ["?"], what: "this sheet", do: () => (sheet.value = !sheet.value) },
];

const PLACES: readonly [string, readonly [string, string][]][] = [
  [
    "in the diagram",
    [
      ["arrows", "to the next block"],
      ["Shift+arrows, drag", "pan"],
      ["+ − wheel", "zoom"],
      ["0", "fit"],
      ["Enter, double click", "open or close a frame"],
      ["Backspace", "close the frame around a block"],
      ["g, click on a wire", "into the scope; with shift into a new one"],
    ],
  ],
  [
    "at the robot",
    [
      ["arrows, drag", "turn"],
      ["+ − wheel", "zoom"],
      ["Shift+arrows, right drag", "pan"],
      ["0", "look at all"],
    ],
  ],
  [
    "in a scope",
    [
      ["click, Shift+click", "cursors A and B"],
      ["drag", "zoom into a span"],
      ["wheel", "zoom"],
      ["PageUp, PageDown, Shift+drag", "pan"],
      ["double click, 0", "show all"],
      ["arrows, Shift+arrows", "move cursor A or B"],
      ["+ −", "zoom about cursor A"],
      ["Enter", "go to cursor A"],
    ],
  ],
  [
    "in the text",
    [
      ["Ctrl+S", "save"],
      ["Ctrl+F", "search"],
      ["Escape, then Tab", "leave the editor"],
    ],
  ],
];

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && target.type === "range");

export function useKeys(): void {
  useEffect(() => {
    const down = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isField(event.target)) {
        if (event.key === "Escape") (event.target as HTMLElement).blur();
        return;
      }
      if (document.querySelector("dialog[open]") && event.key !== "?") return;
      const onButton = event.target instanceof HTMLButtonElement;
      if (onButton && event.key === " ") return;
      const key = KEYS.find(({ keys }) => keys.includes(event.key));
      if (!key || event.key === "Tab") return;
      event.preventDefault();
      key.do();
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, []);
}

export function KeySheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (sheet.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [sheet.value]);
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-labelledby="keys-title"
      onClose={() => (sheet.value = false)}
    >
      <h2 id="keys-title">Keys</h2>
      <div class="columns">
        <dl>
          {KEYS.map(({ keys, shown, what }) => (
            <div key={what}>
              <dt>
                <kbd>{shown ?? keys[0]}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        {PLACES.map(([title, list]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {list.map(([keys, what]) => (
                <div key={keys}>
                  <dt>
                    <kbd>{keys}</kbd>
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <footer>
        <button onClick={() => (sheet.value = false)}>close</button>
      </footer>
    </dialog>
  );
}
