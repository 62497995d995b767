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
import { Refusal } from "../link/link";
import type { Diagnostic, EditAnswer, TextFile } from "../protocol";
import { icons } from "../ui/icons";
import { tab } from "../ui/tabs";
import { place } from "./place";
import { ron } from "./ron";
import { service } from "./service";

/** How long one stops typing before the text is compiled [ms]. */
const PAUSE = 350;

const files = signal<readonly TextFile[]>([]);
const chosen = signal<string | null>(null);
/** Files whose text here is not that of the disk. */
const changed = signal<ReadonlySet<string>>(new Set());
/** What the files held when they were read here, or written from here. */
const bases = new Map<string, { text: string; hash: string }>();
/** A text of the disk that is to take the place of that in the editor. */
const taken = signal<TextFile | null>(null);
/** A file that was not saved because it has changed on disk. */
const conflict = signal<string | null>(null);

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
  for (const { path, text, hash } of answer.files) {
    // What has been edited here stays.
    if (changed.value.has(path)) continue;
    bases.set(path, { text, hash: hash ?? "" });
    if (buffers.get(path)?.doc.toString() !== text) buffers.delete(path);
  }
  files.value = answer.files;
  chosen.value = answer.files.some((file) => file.path === chosen.value)
    ? chosen.value
    : (answer.files[0]?.path ?? null);
}

/** Reads a file as it is on disk, in place of the text here. */
export async function readDisk(file: string): Promise<void> {
  tab.value = "text";
  if (!files.value.length) await load();
  const path = files.value.find((one) => placed(file, one.path))?.path;
  if (!path) return;
  const answer = await app.attempt<{ files: TextFile[] }>("text", { file: path, disk: true }, 0);
  const read = answer?.files[0];
  if (!read) return;
  bases.set(path, { text: read.text, hash: read.hash ?? "" });
  conflict.value = null;
  chosen.value = path;
  taken.value = read;
}

export function TextView() {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const [message, setMessage] = useState("");
  const timer = useRef(0);

  useEffect(() => void load(), [app.models.value.get(0)]);

  const compile = async (save: boolean, overwrite = false) => {
    const file = chosen.value;
    const editor = view.current;
    if (!file || !editor) return;
    const text = editor.state.doc.toString();
    try {
      const over = (save && !overwrite && bases.get(file)?.hash) || null;
      const answer = await app.ask<EditAnswer>("edit", { file, text, save, over }, 0);
      app.diagnostics.value = answer.diagnostics;
      const errors = answer.diagnostics.filter(
        (one) => one.severity.toLowerCase() === "error",
      ).length;
      setMessage(
        errors ? `${errors} error${errors === 1 ? "" : "s"}` : save ? "saved" : "compiles",
      );
      if (save) {
        bases.set(file, { text, hash: answer.hash ?? "" });
        conflict.value = null;
        const next = new Set(changed.value);
        next.delete(file);
        changed.value = next;
      }
    } catch (error) {
      if (error instanceof Refusal && error.changed) conflict.value = file;
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
          const next = new Set(changed.value).add(file.path);
          if (update.state.doc.toString() === bases.get(file.path)?.text) next.delete(file.path);
          changed.value = next;
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

  useEffect(() => {
    const editor = view.current;
    const read = taken.value;
    if (!read || !editor || shown.current !== read.path) return;
    taken.value = null;
    const { doc } = editor.state;
    if (doc.toString() === read.text) return;
    editor.dispatch({ changes: { from: 0, to: doc.length, insert: read.text } });
  }, [taken.value, files.value, chosen.value]);

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
        {conflict.value !== null && conflict.value === file?.path && (
          <>
            <button
              id="reload"
              title="Takes the text on disk; what was edited here is lost"
              onClick={() => void readDisk(file.path).then(() => setMessage("read from disk"))}
            >
              reload
            </button>
            <button
              id="overwrite"
              title="Writes the text here; what is on disk is lost"
              onClick={() => void compile(true, true)}
            >
              overwrite
            </button>
          </>
        )}
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
