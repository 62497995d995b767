// Pages without a server.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, close, painted, parse, run, scratch, until } from "./harness.mjs";
import { shared, open, openFile, stand, end, step, wirePlace, drawn, legend } from "./page.mjs";

export const replayTests = {
  async "two runs replay side by side"() {
    const other = join(scratch, "soft");
    await run("run", stand, "--set", "kp=40", "--out", other, "--no-checks", "-q");
    const file = join(scratch, "two.html");
    await run("view", join(scratch, "reference"), other, "-o", file, "-q");
    const { page, faults } = await openFile(file);
    await drawn(page);
    await page.waitForSelector(".source >> nth=1");
    await page.click("#tab-differences");
    const rows = await until("differences", async () => {
      const cells = await page.$$eval(".differences tbody tr", (list) =>
        list.map((row) => [...row.cells].map((cell) => cell.textContent)),
      );
      return cells.length >= 3 && cells;
    });
    // Torques part with the first step in which the joints have left their places.
    const first = rows.reduce((a, b) => (Number(b[4]) < Number(a[4]) ? b : a));
    check(first[0] === "pd.tau", `first to part: ${first}`);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
  },

  async "a page without a server replays"(note) {
    const file = join(scratch, "page.html");
    await run("view", join(scratch, "reference"), "-o", file, "-q");
    const size = readFileSync(file).length;
    note(`${(size / 1e6).toFixed(2)} MB for ${end} s`);
    const { page, faults } = await openFile(file);
    await drawn(page);
    await page.waitForFunction(() => window.legworkWorld?.frames > 0);
    await until("a robot", async () => (await painted(page.locator("#robot"))).part > 0.03);
    const wire = await wirePlace(page, "pd", "tau", "act");
    await page.mouse.click(wire.x, wire.y);
    await page.waitForSelector(".scope");
    await page.fill("#clock", String(end));
    await page.press("#clock", "Enter");
    const torques = await until("torques", async () => {
      const values = Object.values(await legend(page)).map(parse);
      return values.length === 12 && values.every(Number.isFinite) && values;
    });
    const wanted = shared.recorded.at("pd.tau", end);
    torques.forEach((value, i) => close(value, wanted[i], 1e-4, `torque ${i}`));
    // Feet carry the robot, though contacts are not recorded.
    const forces = await page.evaluate(() => window.legworkWorld.latest(0)?.contacts.length);
    check(forces === 4, `${forces} contacts`);
    // What was run, and what its checks said.
    await page.click("#tab-report");
    const report = await page.textContent(".report");
    check(report.includes("SemiImplicitEuler") && report.includes("feet stay closed"), report);
    check((await page.$$(".report td.pass, .report td.open")).length >= 7, "seven checks");
    // Frames open and close without a server.
    const shown = () => page.evaluate(() => window.legworkDiagram.drawing.schematic.symbols.length);
    const all = await shown();
    await page.click('[aria-label="Close all frames"]');
    await until("fewer blocks", async () => (await shown()) < all);
    await page.click('[aria-label="Open all frames"]');
    await until("all blocks", async () => (await shown()) === all);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
  },
};
