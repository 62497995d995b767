// The page: one screen with the diagram, the robot, the scopes, the text.

import { effect } from "@preact/signals";
import { render } from "preact";
import "./style/colours.css";
import "./style/elements.css";
import "./style/top.css";
import "./style/diagram.css";
import "./style/below.css";
import "./style/views.css";
import "./style/dialogs.css";
import * as app from "./app";
import { Inspector } from "./diagram/inspector";
import { DiagramView } from "./diagram/view";
import { LiveLink } from "./link/live";
import { ELEMENT, OfflineLink } from "./link/offline";
import { hasRobot, RobotView } from "./robot/view";
import { addToScope } from "./scopes/scopes";
import "./scopes/stored";
import { ScopesView } from "./scopes/view";
import { readDisk, TextView } from "./text/editor";
import { Console, Stops } from "./time/console";
import { Differences, ForkDialog, Sources } from "./time/fork";
import { Parameters } from "./time/parameters";
import { SaveRecording } from "./time/record";
import { hasFailed, Reports } from "./time/report";
import { Transport, Where } from "./time/transport";
import { icons } from "./ui/icons";
import { KeySheet, sheet, useKeys } from "./ui/keys";
import { Split } from "./ui/panes";
import { type Tab, tab } from "./ui/tabs";
import { toggle as toggleTheme } from "./ui/theme";

const TABS: readonly [Tab, string][] = [
  ["console", "Console"],
  ["parameters", "Parameters"],
  ["text", "Text"],
  ["stops", "Breakpoints"],
  ["differences", "Differences"],
];

function Below() {
  const problems = app.diagnostics.value.length;
  const tabs: readonly [Tab, string][] = app.reports.value.length
    ? [["report", "Report"], ...TABS]
    : TABS;
  return (
    <section class="pane below">
      <div class="tabs" role="tablist" aria-label="Below the diagram">
        {tabs.map(([name, label]) => (
          <button
            key={name}
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab.value === name}
            onClick={() => (tab.value = name)}
          >
            {label}
            {name === "report" && hasFailed() && <span class="count bad">failed</span>}
            {name === "text" && problems > 0 && <span class="count bad">{problems}</span>}
          </button>
        ))}
        <Where />
      </div>
      {tab.value === "console" && <Console />}
      {tab.value === "parameters" && <Parameters />}
      {tab.value === "text" && <TextView />}
      {tab.value === "stops" && <Stops />}
      {tab.value === "differences" && <Differences />}
      {tab.value === "report" && <Reports />}
    </section>
  );
}

function Banner() {
  const lost = {
    lost: "The server is gone. Looking for it …",
    other: "Another server runs here and does not know this page: open the address it printed.",
  };
  const words = app.problem.value ?? lost[app.status.value as keyof typeof lost] ?? "";
  if (!words) return null;
  return (
    <p class="banner" role="alert">
      {words}
    </p>
  );
}

/** Which text runs, where the files on disk hold another. */
function RunningText() {
  const text = app.text.value;
  if (!text || !app.live.value || app.status.value !== "open") return null;
  const { since, broken, differs, saved } = text;
  const at = new Date(1000 * since);
  const clock = `${at.getHours()}:${String(at.getMinutes()).padStart(2, "0")}`;
  const name = (path: string) => path.split("/").at(-1);
  if (broken) {
    const { file = "", line, column } = broken;
    const place = line ? ` at ${line}:${column}` : "";
    return (
      <p class="banner running-text" role="status">
        Running the text of {clock}. {file ? name(file) : "The file"} on disk has an error{place}:{" "}
        {broken.message} <button onClick={() => void readDisk(file)}>show it</button>
      </p>
    );
  }
  if (!differs.length || !saved) return null;
  return (
    <p class="banner running-text" role="status">
      Running the text of {clock}. {differs.map(name).join(", ")} on disk{" "}
      {differs.length > 1 ? "are others" : "is another"}.{" "}
      <button
        title="Goes on from here with the text on disk"
        onClick={() => void app.attempt("disk", {}, 0)}
      >
        run it from here
      </button>
    </p>
  );
}

function Warnings() {
  const warnings = app.model.value?.warnings ?? [];
  if (!warnings.length) return null;
  const words = warnings.map((warning) =>
    typeof warning === "string" ? warning : warning.message,
  );
  return (
    <span class="count warn" tabIndex={0} title={words.join("\n")} aria-label={words.join(". ")}>
      {words.length} warning{words.length === 1 ? "" : "s"}
    </span>
  );
}

function Page() {
  useKeys();
  const title = app.model.value?.title || app.hello.value?.title || "";
  const replay = !app.live.value;
  if (!app.model.value) {
    return (
      <>
        <Banner />
        <p class="loading" role="status">
          Legwork is opening the diagram …
        </p>
      </>
    );
  }
  const right = hasRobot() ? (
    <Split name="right" vertical start={0.52} label="Robot and scopes">
      <RobotView />
      <ScopesView />
    </Split>
  ) : (
    <ScopesView />
  );
  return (
    <>
      <Banner />
      <RunningText />
      <header class="top">
        <h1 title={app.model.value.files[0]}>{title}</h1>
        {replay && (
          <span class="count" title="A recording in this page; there is no server">
            replay
          </span>
        )}
        <Warnings />
        <Sources />
        <Transport />
        <SaveRecording />
        <button aria-label="Light or dark" title="Light or dark (l)" onClick={toggleTheme}>
          {icons.theme}
        </button>
        <button aria-label="Keys" title="Keys (?)" onClick={() => (sheet.value = true)}>
          {icons.keys}
        </button>
      </header>
      <main>
        <Split name="main" start={0.56} label="Diagram and robot">
          <Split name="left" vertical start={0.68} label="Diagram and text">
            <div class={`over${app.selection.value ? " inspected" : ""}`}>
              <DiagramView />
              <Inspector />
            </div>
            <Below />
          </Split>
          {right}
        </Split>
      </main>
      <ForkDialog />
      <KeySheet />
    </>
  );
}

// A replayed run whose checks failed says so first.
effect(() => {
  if (hasFailed()) tab.value = "report";
});

// For tests and pictures, beside the canvases.
Object.assign(window, {
  legworkScope: (path: string) => addToScope(path, false),
  legworkSamples: (source: number, path: string) => app.watchedOf(source, path)?.series,
});

const embedded = document.getElementById(ELEMENT);
const scheme = location.protocol === "https:" ? "wss" : "ws";
const link = embedded
  ? new OfflineLink(embedded.textContent ?? "")
  : new LiveLink(`${scheme}://${location.host}/socket`);
const root = document.getElementById("app")!;
root.replaceChildren();
render(<Page />, root);
app.start(link);
