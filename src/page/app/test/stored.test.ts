import { expect, test } from "vitest";
import type { Scope } from "../src/scopes/scopes";
import { fromText, toText } from "../src/scopes/stored";

const scope: Scope = {
  id: 3,
  paths: ["pd.tau", "body.state"],
  mode: "spectrum",
  follow: null,
  range: [0.5, 1],
  cursors: [0.25],
  switched: new Set(["pd.tau 1 0"]),
  pair: [0, 1],
};

test("scopes are what they were", () => {
  const text = toText([scope, { ...scope, id: 4, range: null, follow: 2 }], 4);
  const { scopes, current } = fromText(text);
  expect(scopes).toEqual([scope, { ...scope, id: 4, range: null, follow: 2 }]);
  expect(current).toBe(4);
});

test("what is no scope is left out", () => {
  for (const text of [null, "", "{}", "[]", '{"scopes":[{"id":1}]}', '{"scopes":3}']) {
    expect(fromText(text).scopes).toEqual([]);
  }
  const odd = toText([scope], 3).replace("spectrum", "constructor");
  expect(fromText(odd).scopes).toEqual([]);
});
