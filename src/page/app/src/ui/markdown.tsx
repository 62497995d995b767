// The Markdown of manuals, as elements; their text is text and nothing else.

import type { ComponentChild } from "preact";

/** `code` in a line. */
export function inline(text: string): ComponentChild[] {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .filter(Boolean)
    .map((part, i) => {
      if (part.startsWith("`") && part.length > 1) return <code key={i}>{part.slice(1, -1)}</code>;
      if (part.startsWith("**") && part.length > 4) return <b key={i}>{part.slice(2, -2)}</b>;
      // Links say their words.
      return part.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replace(/\[`?([^\]`]+)`?\]/g, "$1");
    });
}

const cells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

type Part =
  | { kind: "code" | "text" | "heading"; lines: string[] }
  | { kind: "table" | "list"; lines: string[] };

/** Splits a text into paragraphs, headings, lists, tables and code. */
export function parts(text: string): Part[] {
  const out: Part[] = [];
  let fence = false;
  let fresh = true;
  for (const line of text.split("\n")) {
    const last = out.at(-1);
    if (line.trimStart().startsWith("```")) {
      fence = !fence;
      if (fence) out.push({ kind: "code", lines: [] });
      fresh = !fence;
      continue;
    }
    if (fence) {
      last?.lines.push(line);
      continue;
    }
    if (!line.trim()) {
      fresh = true;
      continue;
    }
    const kind = /^#+ /.test(line)
      ? "heading"
      : line.trimStart().startsWith("|")
        ? "table"
        : /^\s*([-*]|\d+\.) /.test(line)
          ? "list"
          : /^ {4}/.test(line) && (fresh || last?.kind === "code")
            ? "code"
            : "text";
    const goes =
      last && !fresh && (last.kind === kind || (last.kind === "list" && kind === "text"));
    if (goes && kind !== "heading" && last.kind === "list" && kind === "text") {
      last.lines.push(`${last.lines.pop() ?? ""} ${line.trim()}`);
    } else if (goes && kind !== "heading") last.lines.push(line);
    else out.push({ kind, lines: [line] });
    fresh = false;
  }
  return out;
}

export function Markdown({ text }: { text: string }) {
  return (
    <div class="manual">
      {parts(text).map(({ kind, lines }, i) => {
        if (kind === "code") return <pre key={i}>{lines.join("\n")}</pre>;
        if (kind === "heading") return <h3 key={i}>{inline(lines[0]!.replace(/^#+ /, ""))}</h3>;
        if (kind === "list") {
          return (
            <ul key={i}>
              {lines.map((line, k) => (
                <li key={k}>{inline(line.replace(/^\s*([-*]|\d+\.) /, ""))}</li>
              ))}
            </ul>
          );
        }
        if (kind === "table") {
          const rows = lines.filter((line) => !/^[\s|:-]+$/.test(line)).map(cells);
          return (
            <table key={i}>
              <thead>
                <tr>
                  {rows[0]?.map((cell, k) => (
                    <th key={k}>{inline(cell)}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.slice(1).map((row, r) => (
                  <tr key={r}>
                    {row.map((cell, k) => (
                      <td key={k}>{inline(cell)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }
        return <p key={i}>{inline(lines.join(" "))}</p>;
      })}
    </div>
  );
}
