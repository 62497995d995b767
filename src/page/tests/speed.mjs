// What must be fast: always measured, and with SPEED=1 held to its bounds, on a quiet machine.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, root, scratch, until, view } from "./harness.mjs";
import { largeDiagram } from "./large.mjs";
import { open, end, wirePlace, frameTimes, clock, drawn } from "./page.mjs";

const judged = process.env.SPEED === "1";

export const speedTests = {
  async "the trot moves at 30 frames a second or more"(note) {
    const server = await view("diagrams/quadruped/trot.ron");
    const { page, faults } = await open(server.address);
    await drawn(page);
    await page.waitForFunction(() => window.legworkWorld?.frames > 0);
    // A scope goes on beside it.
    const wire = await wirePlace(page, "act", "tau", "accel");
    await page.mouse.click(wire.x, wire.y);
    await page.waitForSelector(".scope");
    const frames = () => page.evaluate(() => [window.legworkWorld.frames, performance.now()]);
    // The best of five: others may use this machine, too.
    let best = 0;
    for (let i = 0; i < (judged ? 5 : 1) && best < 30; i++) {
      await page.click('[aria-label="To the start"]');
      await page.click("#run");
      await until("it moves", async () => (await clock(page)) > 0.3);
      const [n0, t0] = await frames();
      await page.waitForTimeout(3000);
      const [n1, t1] = await frames();
      best = Math.max(best, (1000 * (n1 - n0)) / (t1 - t0));
    }
    note(`${best.toFixed(1)} frames a second in software GL, clock ${await clock(page)} s`);
    const before = await page.locator("#robot").screenshot();
    await page.waitForTimeout(300);
    check(!before.equals(await page.locator("#robot").screenshot()), "the picture moves");
    check(!judged || best >= 30, "too slow");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "500 blocks pan smoothly"(note) {
    const file = join(scratch, "large.ron");
    writeFileSync(file, largeDiagram());
    const server = await view(file);
    const { page, faults } = await open(server.address);
    await drawn(page);
    await page.click('[aria-label="Open all frames"]');
    await page.waitForFunction(() => window.legworkDiagram.drawing.schematic.symbols.length >= 500);
    const box = await page.locator("#diagram").boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -200);
    await page.waitForTimeout(500);
    const gaps = frameTimes(page, 120);
    await page.mouse.down();
    for (let i = 0; i < 60; i++) {
      await page.mouse.move(x + 100 * Math.sin(i / 6), y + 60 * Math.sin(i / 9));
    }
    await page.mouse.up();
    const times = await gaps;
    const median = times[60];
    note(
      `a frame takes ${median.toFixed(1)} ms in the median, ${times[114].toFixed(1)} ms at 95 %`,
    );
    check(!judged || median < 34, "panning is slow");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "a million points stay smooth in a scope"(note) {
    const file = join(root, "diagrams/signals/limit_cycle.ron");
    const server = await view(file, "--set", 'run.step="10 us"');
    const { page, faults } = await open(server.address);
    await drawn(page);
    const wire = await wirePlace(page, "back", "y", "relay");
    await page.mouse.click(wire.x, wire.y);
    await page.waitForSelector(".scope");
    await page.selectOption(".speed select", "null");
    await page.click("#run");
    await until("the end", async () => (await clock(page)) >= 10 - 1e-9, 60_000);
    const plot = await page.locator(".plot").boundingBox();
    const [x, y] = [plot.x + plot.width / 2, plot.y + plot.height / 2];
    await page.mouse.move(x, y);
    const gaps = frameTimes(page, 90);
    for (let i = 0; i < 45; i++) await page.mouse.wheel(0, i < 25 ? -60 : 60);
    const times = await gaps;
    const rows = await page.evaluate(() => window.legworkSamples(0, "back.y").rows);
    note(`${rows} points: a frame takes ${times[45].toFixed(1)} ms in the median`);
    check(rows > 900_000, "all points are there");
    check(!judged || times[45] < 34, "zooming is slow");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },
};
