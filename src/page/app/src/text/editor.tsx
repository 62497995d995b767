// The text of the diagram: errors where they are, saved on request.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import {
  type Diagnostic as Mark,
  forceLinting,
  linter,
  lintGutter,
  setDiagnostics,
} from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import * as app from "../app";
import type { Diagnostic, EditAnswer, TextFile } from "../protocol";
import { icons } from "../ui/icons";
import { place } from "./place";
import { ron } from "./ron";
import { service } from "./service";

/** How long one stops typing before the text is compiled [ms]. */
const PAUSE = 350;

const files = signal<readonly TextFile[]>([]);
const chosen = signal<string | null>(null);
/** Files whose text here is not that of the disk. */
const changed = signal<ReadonlySet<string>>(new Set());

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.macroName, color: "var(--code-expression)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.typeName, color: "var(--code-type)", fontWeight: "600" },
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.attributeName, color: "var(--code-field)" },
  { tag: tags.atom, color: "var(--code-number)" },
]);

const looks = EditorView.theme({
  "&": { height: "100%", fontSize: "12.5px", backgroundColor: "var(--pane)", color: "var(--ink)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--pane)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line-active)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selected) !important",
  },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
  },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-tooltip .manual": {
    maxWidth: "46rem",
    maxHeight: "22rem",
    overflow: "auto",
    padding: "0.4rem 0.6rem",
  },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", fontFamily: "var(--sans)" },
});

/** The offset of a line and column, counted from 1 in characters; within the text in any case. */
export function offsetOf(text: Text, line: number, column: number): number {
  const at = text.line(Math.min(Math.max(1, line), text.lines));
  let offset = 0;
  let left = column - 1;
  for (const character of at.text) {
    if (left-- <= 0) break;
    offset += character.length;
  }
  return at.from + Math.min(offset, at.length);
}

function placed(file: string, of: string): boolean {
  return file === of || file.endsWith(`/${of}`) || of.endsWith(`/${file}`);
}

function marksOf(text: Text, file: string, diagnostics: readonly Diagnostic[]): Mark[] {
  return diagnostics
    .filter((diagnostic) => placed(diagnostic.file, file))
    .map(({ line, column, end_line, end_column, severity, message, hint }) => {
      const from = offsetOf(text, line, column);
      const to = Math.max(from, offsetOf(text, end_line || line, end_column || column + 1));
      return {
        from,
        to: to === from ? Math.min(from + 1, text.length) : to,
        severity: severity.toLowerCase() === "error" ? ("error" as const) : ("warning" as const),
        message: hint ? `${message}\n${hint}` : message,
      };
    });
}

/** Texts of files as they are edited, with their history. */
const buffers = new Map<string, EditorState>();

async function load(): Promise<void> {
  const answer = await app.attempt<{ files: TextFile[] }>("text");
  if (!answer) return;
  for (const { path, text } of answer.files) {
    // What has been edited here stays.
    if (changed.value.has(path)) continue;
    if (buffers.get(path)?.doc.toString() !== text) buffers.delete(path);
  }
  files.value = answer.files;
  chosen.value = answer.files.some((file) => file.path === chosen.value)
    ? chosen.value
    : (answer.files[0]?.path ?? null);
}

export function TextView() {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const [message, setMessage] = useState("");
  const timer = useRef(0);

  useEffect(() => void load(), [app.models.value.get(0)]);

  const compile = async (save: boolean) => {
    const file = chosen.value;
    const editor = view.current;
    if (!file || !editor) return;
    const text = editor.state.doc.toString();
    try {
      const answer = await app.ask<EditAnswer>("edit", { file, text, save }, 0);
      app.diagnostics.value = answer.diagnostics;
      const errors = answer.diagnostics.filter(
        (one) => one.severity.toLowerCase() === "error",
      ).length;
      setMessage(
        errors ? `${errors} error${errors === 1 ? "" : "s"}` : save ? "saved" : "compiles",
      );
      if (save) {
        const next = new Set(changed.value);
        next.delete(file);
        changed.value = next;
      }
    } catch (error) {
      setMessage(app.messageOf(error));
    }
  };

  const stateOf = (file: TextFile): EditorState => {
    const known = buffers.get(file.path);
    if (known) return known;
    return EditorState.create({
      doc: file.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        search(),
        service(file.path),
        linter(null),
        ron,
        syntaxHighlighting(colours),
        looks,
        indentUnit.of("    "),
        EditorView.contentAttributes.of({ "aria-label": `Text of ${file.path}` }),
        new Compartment().of(EditorState.readOnly.of(!file.writable || !app.live.value)),
        keymap.of([
          {
            key: "Mod-s",
            preventDefault: true,
            run: () => {
              void compile(true);
              return true;
            },
          },
          ...defaultKeymap,
          ...historyKeymap,
          ...searchKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          changed.value = new Set([...changed.value, file.path]);
          setMessage("…");
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => void compile(false), PAUSE);
        }),
      ],
    });
  };

  useEffect(() => {
    const made = new EditorView({ parent: host.current! });
    view.current = made;
    return () => {
      if (chosen.value) buffers.set(chosen.value, made.state);
      clearTimeout(timer.current);
      made.destroy();
    };
  }, []);

  const shown = useRef<string | null>(null);
  useEffect(() => {
    const editor = view.current;
    const file = files.value.find((one) => one.path === chosen.value);
    if (!editor || !file) return;
    const fresh = !buffers.has(file.path) && !changed.value.has(file.path);
    if (shown.current === file.path && !fresh) return;
    if (shown.current && shown.current !== file.path) buffers.set(shown.current, editor.state);
    if (shown.current === file.path && editor.state.doc.toString() === file.text) return;
    shown.current = file.path;
    editor.setState(stateOf(file));
    mark();
  }, [files.value, chosen.value]);

  const mark = () => {
    const editor = view.current;
    if (!editor || !chosen.value) return;
    const marks = marksOf(editor.state.doc, chosen.value, app.diagnostics.value);
    editor.dispatch(setDiagnostics(editor.state, marks));
    forceLinting(editor);
  };
  useEffect(mark, [app.diagnostics.value, chosen.value]);

  useEffect(() => {
    const to = place.value;
    const editor = view.current;
    if (!to || !editor) return;
    const file = files.value.find((one) => placed(to.file, one.path));
    if (!file) return;
    chosen.value = file.path;
    place.value = null;
    setTimeout(() => {
      const at = offsetOf(editor.state.doc, to.line, to.column);
      editor.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: "center" }),
      });
      editor.focus();
    });
  }, [place.value, files.value]);

  const file = files.value.find((one) => one.path === chosen.value);
  const problems = app.diagnostics.value;
  return (
    <section class="text" aria-label="Text">
      <div class="tools">
        <select
          aria-label="File"
          value={chosen.value ?? ""}
          onChange={(event) => (chosen.value = event.currentTarget.value)}
        >
          {files.value.map(({ path, writable }) => (
            <option key={path} value={path}>
              {changed.value.has(path) ? "● " : ""}
              {path}
              {writable ? "" : " (read only)"}
            </option>
          ))}
        </select>
        <span class="faint" role="status">
          {message}
        </span>
        <span class="spring" />
        <button
          id="save"
          disabled={!file?.writable || !app.live.value || !changed.value.has(file.path)}
          title="Write to the disk (Ctrl+S)"
          onClick={() => void compile(true)}
        >
          {icons.save} save
        </button>
      </div>
      <div class="code" ref={host} />
      {problems.length > 0 && (
        <ul class="problems" aria-label="Problems">
          {problems.map((problem, i) => (
            <li key={i} class={problem.severity.toLowerCase()}>
              <button class="link" onClick={() => (place.value = problem)}>
                <span class="num">
                  {problem.file.split("/").at(-1)}:{problem.line}:{problem.column}
                </span>{" "}
                {problem.message}
                {problem.hint && <span class="faint"> {problem.hint}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
