import { expect, test } from "vitest";
import { template } from "../src/text/service";

test("a snippet of the server is one of the editor", () => {
  expect(template("Gain(gain: $1, in: { $0 })")).toBe("Gain(gain: ${1:}, in: \\{ ${} \\})");
  expect(template("a\\\\b\\$1\\}")).toBe("a\\b$1\\}");
  expect(template("plain.name")).toBe("plain.name");
});
