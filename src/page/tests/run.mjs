// Drives the page in Chromium, against the real server: `node run.mjs [words of names]`.
// LEGWORK names the binary, CHROMIUM the browser.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { browse, root, tests } from "./harness.mjs";
import { mannersTests } from "./manners.mjs";
import { reference, shared, stand } from "./page.mjs";
import { replayTests } from "./replay.mjs";
import { speedTests } from "./speed.mjs";
import { standTests } from "./stand.mjs";
import { textTests } from "./texts.mjs";
import { writingTests } from "./writing.mjs";

await tests({
  async preparation() {
    copyFileSync(join(root, "diagrams/quadruped/stand.ron"), stand);
    [shared.browser, shared.recorded] = await Promise.all([
      browse(),
      reference(stand, "reference"),
    ]);
  },
  ...standTests,
  ...speedTests,
  ...mannersTests,
  ...replayTests,
  ...writingTests,
  ...textTests,
});
