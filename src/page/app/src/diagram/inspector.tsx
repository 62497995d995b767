// What is known of the block or wire that is selected.

import { useEffect, useState } from "preact/hooks";
import * as app from "../app";
import type { BlockAnswer, PortInfo } from "../protocol";
import { addToScope } from "../scopes/scopes";
import { goTo } from "../text/place";
import { number } from "../ui/format";
import { icons } from "../ui/icons";
import { inline, Markdown } from "../ui/markdown";
import { ParameterField } from "../ui/parameter";
import { opens } from "./fold";
import * as sheet from "./sheet";

export function Inspector() {
  const selected = app.selection.value;
  if (!selected) return null;
  return (
    <aside class="inspector" aria-label={`About ${selected.path}`}>
      <header>
        <h2>{selected.path}</h2>
        <button
          aria-label="Close"
          title="Close (Escape)"
          onClick={() => (app.selection.value = null)}
        >
          {icons.close}
        </button>
      </header>
      {selected.kind === "wire" ? (
        <WirePart path={selected.path} to={selected.to} type={selected.type} />
      ) : (
        <BlockPart path={selected.path} frame={selected.kind === "frame"} />
      )}
    </aside>
  );
}

function useBlock(path: string): { block: BlockAnswer | null; error: string; again: () => void } {
  const [answer, setAnswer] = useState<{ of: string; block: BlockAnswer } | null>(null);
  const [error, setError] = useState("");
  const [count, setCount] = useState(0);
  useEffect(() => {
    let current = true;
    setError("");
    app.block(path, count > 0).then(
      (block) => current && setAnswer({ of: path, block }),
      (problem: unknown) => current && setError(app.messageOf(problem)),
    );
    return () => {
      current = false;
    };
  }, [path, count, app.model.value, app.focus.value, app.edited.value]);
  const block = answer?.of === path ? answer.block : null;
  return { block, error, again: () => setCount((n) => n + 1) };
}

function WirePart({ path, to, type }: { path: string; to: string; type: string }) {
  const end = path.search(/[.][^.]*$/);
  const { block } = useBlock(blockOf(path, end));
  useEffect(() => {
    app.follow("inspector", [path]);
    return () => app.follow("inspector", []);
  }, [path]);
  const isPart = (output: PortInfo) => {
    const rest = path.startsWith(output.path) ? path.slice(output.path.length) : "?";
    return rest === "" || rest.startsWith(".") || rest.startsWith("[");
  };
  const port = block?.outputs.find(isPart);
  const own = app.facts.value.get(path);
  const unit = own ? own.unit : port?.unit;
  const frame = own ? own.frame : port?.frame;
  const value = liveValue(path);
  return (
    <>
      <dl>
        {to && (
          <>
            <dt>goes to</dt>
            <dd>{to}</dd>
          </>
        )}
        <dt>type</dt>
        <dd>{own?.type ?? (type || port?.type || "–")}</dd>
        <dt>unit</dt>
        <dd>{unit || "–"}</dd>
        {frame && (
          <>
            <dt>frame</dt>
            <dd>{frame}</dd>
          </>
        )}
        {block?.rate && (
          <>
            <dt>rate</dt>
            <dd>{block.rate}</dd>
          </>
        )}
        <dt>value</dt>
        <dd class="num value" id="wire-value">
          {value ?? "–"}
        </dd>
      </dl>
      <p>
        <button onClick={() => void addToScope(path, false)}>add to scope</button>{" "}
        <button onClick={() => void addToScope(path, true)}>new scope</button>{" "}
        <button disabled={!app.live.value} onClick={() => void app.line(`watch ${path}`)}>
          watch
        </button>
      </p>
    </>
  );
}

/** The longest path of a block that begins a wire's path. */
function blockOf(path: string, end: number): string {
  const symbols = sheet.drawn.value?.drawing.schematic.symbols ?? [];
  let best = "";
  for (const symbol of symbols) {
    if (symbol.path.length > best.length && path.startsWith(`${symbol.path}.`)) best = symbol.path;
  }
  return best || path.slice(0, end);
}

function BlockPart({ path, frame }: { path: string; frame: boolean }) {
  const { block, error, again } = useBlock(path);
  const ports = block ? [...block.inputs, ...block.outputs] : [];
  const key = [...new Set(ports.flatMap(readsOf))].join(" ");
  useEffect(() => {
    app.follow("inspector", key ? key.split(" ") : []);
    return () => app.follow("inspector", []);
  }, [key]);
  const drawing = sheet.drawn.value?.drawing;
  const index = drawing ? sheet.indexOf(drawing, path) : -1;
  const symbol = drawing?.schematic.symbols[index];
  const isOpen = drawing?.schematic.frames.some((one) => one.path === path) ?? false;
  const folds = frame || isOpen || (symbol !== undefined && opens(symbol));
  const heat = app.heat.value?.get(path) ?? block?.time_us ?? null;
  return (
    <>
      <p class="summary">
        <b>{block?.kind || symbol?.kind}</b> {inline(block?.summary ?? "")}
      </p>
      {folds && (
        <p>
          <button onClick={() => void sheet.toggle(path)}>
            {isOpen ? "close" : "open"} the frame
          </button>
        </p>
      )}
      {folds && <Inside path={path} />}
      {error && !folds && <p class="faint">{error}</p>}
      {block && (
        <>
          <dl>
            {block.rate && (
              <>
                <dt>rate</dt>
                <dd>{block.rate}</dd>
              </>
            )}
            {heat !== null && (
              <>
                <dt>time</dt>
                <dd class="num">{number(heat, 3)} µs per step</dd>
              </>
            )}
            {block.line && (
              <>
                <dt>text</dt>
                <dd>
                  <button class="link num" onClick={() => goTo(block.line!)}>
                    {block.line.file.split("/").at(-1)}:{block.line.line}
                  </button>
                </dd>
              </>
            )}
          </dl>
          {block.parameters.length > 0 && (
            <>
              <h3>Parameters</h3>
              <div class="parameters">
                {block.parameters.map((parameter) => (
                  <ParameterField key={parameter.path} parameter={parameter} changed={again} />
                ))}
              </div>
            </>
          )}
          <Ports title="Inputs" ports={block.inputs} />
          <Ports title="Outputs" ports={block.outputs} />
          {block.manual && (
            <details open={block.parameters.length === 0}>
              <summary>Manual</summary>
              <Markdown text={block.manual} />
            </details>
          )}
          {app.live.value && !block.called && (
            <p>
              <button onClick={() => void app.line(`break ${path}`)}>break before it</button>{" "}
              <button onClick={() => void app.line(`print ${path}`)}>print</button>
            </p>
          )}
        </>
      )}
    </>
  );
}

/** Signals that a port shows: what an input reads, an output itself. */
const readsOf = (port: PortInfo): string[] => port.from ?? [port.path];

const liveValue = (path: string) =>
  app.live.value ? app.values.value.get(path) : app.replayed(path);

/** The blocks in a frame. */
function Inside({ path }: { path: string }) {
  const blocks = (app.model.value?.blocks ?? []).filter(
    (block) => block.path.startsWith(`${path}.`) || block.path.startsWith(`${path}[`),
  );
  if (!blocks.length) return null;
  return (
    <>
      <h3>
        {blocks.length} block{blocks.length === 1 ? "" : "s"} inside
      </h3>
      <ul>
        {blocks.map((block) => (
          <li key={block.path}>
            <button
              class="link"
              title={block.summary ?? ""}
              onClick={() => {
                void sheet.show(block.path);
                app.selection.value = { kind: "block", path: block.path };
              }}
            >
              {block.path}
            </button>{" "}
            <span class="faint">{block.kind}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Ports({ title, ports }: { title: string; ports: readonly PortInfo[] }) {
  if (!ports.length) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="ports">
        {ports.map((port) => {
          const [read] = readsOf(port);
          const several = (port.from?.length ?? 0) > 1;
          const value = read && !several ? liveValue(read) : null;
          return (
            <li key={port.path}>
              <button
                class="link"
                title={read ? `Add ${read} to the scope` : "It is not connected"}
                disabled={!read}
                onClick={() => {
                  for (const path of readsOf(port)) void addToScope(path, false);
                }}
              >
                {port.name}
              </button>
              <span class="faint">
                {port.type}
                {port.unit && ` [${port.unit}]`}
                {port.frame && `, in ${port.frame}`}
                {port.from && port.from.length > 0 && <> ← {port.from.join(", ")}</>}
              </span>
              {value && <output class="num value">{value}</output>}
            </li>
          );
        })}
      </ul>
    </>
  );
}
