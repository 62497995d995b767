// Completion, manuals and definitions: what the server's language service says of a place.

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippet,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap } from "@codemirror/view";
import { render } from "preact";
import * as app from "../app";
import { Markdown } from "../ui/markdown";
import { goTo, type Place } from "./place";

interface Offered {
  items: { label: string; detail: string; info: string; kind: string; insert: string }[];
  from?: number;
  to?: number;
}

interface Explained {
  text?: string;
  from?: number;
  to?: number;
}

/** A snippet with stops `$1`, the end `$0` and `\` before what is none, as CodeMirror writes it. */
export function template(insert: string): string {
  return insert.replace(
    /\\(.)|\$(\d+)|([{}])/gs,
    (_, plain?: string, stop?: string, brace?: string) => {
      if (stop !== undefined) return stop === "0" ? "${}" : `\${${stop}:}`;
      const text = plain ?? brace ?? "";
      return /[{}]/.test(text) ? `\\${text}` : text;
    },
  );
}

/** A place of a view's text, as the server counts it. */
function placeOf(view: EditorView, file: string, at: number) {
  const line = view.state.doc.lineAt(at);
  return {
    file,
    text: view.state.doc.toString(),
    line: line.number,
    column: at - line.from + 1,
  };
}

function manual(text: string): HTMLElement {
  const dom = document.createElement("div");
  render(<Markdown text={text} />, dom);
  return dom;
}

async function complete(
  context: CompletionContext,
  file: string,
): Promise<CompletionResult | null> {
  const { view } = context;
  if (!view || !app.live.value) return null;
  if (!context.explicit && !context.matchBefore(/[\w.^="[(]/)) return null;
  const answer = await app.ask<Offered>("complete", placeOf(view, file, context.pos), 0);
  if (answer.from === undefined) return null;
  const option = ({ label, detail, info, kind, insert }: Offered["items"][number]): Completion => ({
    label,
    detail: detail.length > 60 ? `${detail.slice(0, 59)}…` : detail,
    type: kind,
    apply: snippet(template(insert)),
    ...(info ? { info: () => manual(info) } : {}),
  });
  // The server's order is that of likelihood.
  const options = answer.items.map((item, i) => ({ ...option(item), boost: -Math.min(i, 99) }));
  return { from: answer.from, to: answer.to, options, validFor: /^\w*$/ };
}

async function define(view: EditorView, file: string, at: number): Promise<void> {
  const found = await app.attempt<Partial<Place>>("define", placeOf(view, file, at), 0);
  if (!found?.file || !found.line || !found.column) return;
  goTo({ file: found.file, line: found.line, column: found.column });
}

/** What the language service adds to the editor of a file. */
export function service(file: string): Extension {
  return [
    autocompletion({
      override: [(context) => complete(context, file).catch(() => null)],
    }),
    hoverTooltip(async (view, at) => {
      if (!app.live.value) return null;
      try {
        const { text, from, to } = await app.ask<Explained>("hover", placeOf(view, file, at), 0);
        if (!text) return null;
        return { pos: from ?? at, end: to, create: () => ({ dom: manual(text) }) };
      } catch {
        return null;
      }
    }),
    keymap.of([
      {
        key: "F12",
        run: (view) => {
          void define(view, file, view.state.selection.main.head);
          return true;
        },
      },
    ]),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return false;
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (at === null) return false;
        event.preventDefault();
        void define(view, file, at);
        return true;
      },
    }),
  ];
}
