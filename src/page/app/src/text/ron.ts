// Colours for RON, and for the expressions in its strings that begin with `=`.

import { StreamLanguage, type StreamParser } from "@codemirror/language";

interface State {
  comment: number;
  raw: number | null;
}

const parser: StreamParser<State> = {
  name: "ron",
  startState: () => ({ comment: 0, raw: null }),
  token(stream, state) {
    if (state.comment > 0) return blockComment(stream, state);
    if (state.raw !== null) return rawString(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.comment = 1;
      return blockComment(stream, state);
    }
    const raw = stream.match(/^r(#*)"/) as RegExpMatchArray | null;
    if (raw) {
      state.raw = raw[1]!.length;
      return rawString(stream, state);
    }
    const text = stream.match(/^"(?:[^"\\]|\\.)*"/) as RegExpMatchArray | null;
    if (text) {
      // A key of a map is followed by a colon.
      if (stream.match(/^\s*:/, false)) return "propertyName";
      return text[0].startsWith('"=') ? "macroName" : "string";
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*/)) return "string";
    if (stream.match(/^[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?/)) return "number";
    if (stream.match(/^(true|false|None|Some|inf|NaN)\b/)) return "atom";
    const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (word) {
      if (stream.match(/^\s*:/, false)) return "attributeName";
      return /^[A-Z]/.test(word[0]) ? "typeName" : "variableName";
    }
    stream.next();
    return null;
  },
  languageData: {
    commentTokens: { line: "//" },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
  },
};

type Stream = Parameters<NonNullable<typeof parser.token>>[0];

function blockComment(stream: Stream, state: State): string {
  while (!stream.eol()) {
    if (stream.match("/*")) state.comment++;
    else if (stream.match("*/")) {
      if (--state.comment === 0) return "comment";
    } else stream.next();
  }
  return "comment";
}

function rawString(stream: Stream, state: State): string {
  const end = `"${"#".repeat(state.raw ?? 0)}`;
  while (!stream.eol()) {
    if (stream.match(end)) {
      state.raw = null;
      return "string";
    }
    stream.next();
  }
  return "string";
}

export const ron = StreamLanguage.define(parser);
