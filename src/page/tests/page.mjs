// What tests find and do on the page.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open as openIn, openFile as openFileIn, run, scratch, until } from "./harness.mjs";

/** The browser, and the run of `stand.ron` without a page. */
export const shared = { browser: null, recorded: null };

export const open = (...rest) => openIn(shared.browser, ...rest);
export const openFile = (file) => openFileIn(shared.browser, file);

export const stand = join(scratch, "stand.ron");
export const end = 3;
export const step = 1e-3;

/** A recording as rows of numbers by the name of the column. */
export function table(path) {
  const [head, ...rows] = readFileSync(path, "utf8").trim().split("\n");
  const names = head.split(",");
  const cells = rows.map((row) => row.split(",").map((cell) => (cell === "" ? NaN : Number(cell))));
  const columns = (prefix) => names.map((name, i) => (name.startsWith(prefix) ? i : -1));
  return {
    count: cells.length,
    /** Numbers of a signal in the row nearest to `t`. */
    at(prefix, t) {
      const row = cells.reduce((a, b) => (Math.abs(b[0] - t) < Math.abs(a[0] - t) ? b : a));
      return columns(prefix)
        .filter((i) => i >= 0)
        .map((i) => row[i]);
    },
  };
}

/** The run without a page. */
export async function reference(file, name, ...more) {
  const out = join(scratch, name);
  await run("run", file, "--out", out, "--no-checks", "-q", ...more);
  await run("export", out, "-o", `${out}.csv`);
  return table(`${out}.csv`);
}

/** Where a wire is on the screen: the middle of its longest piece. */
export function wirePlace(page, block, port, reader) {
  return page.evaluate(
    ([path, name, to]) => {
      const { drawing, view, canvas } = window.legworkDiagram;
      const { symbols, wires } = drawing.schematic;
      const index = wires.findIndex(
        (wire) =>
          symbols[wire.from.symbol].path === path &&
          symbols[wire.from.symbol].outputs[wire.from.pin].name === name &&
          symbols[wire.to.symbol].path === to,
      );
      const way = drawing.wires[index];
      let [best, longest] = [null, -1];
      for (let i = 0; i + 1 < way.length; i++) {
        const [[ax, ay], [bx, by]] = [way[i], way[i + 1]];
        const length = Math.abs(ax - bx) + Math.abs(ay - by);
        if (length > longest) [best, longest] = [[(ax + bx) / 2, (ay + by) / 2], length];
      }
      const box = canvas.getBoundingClientRect();
      return {
        x: box.x + view.x + view.scale * best[0],
        y: box.y + view.y + view.scale * best[1],
      };
    },
    [block, port, reader],
  );
}

export function symbolPlace(page, path) {
  return page.evaluate((wanted) => {
    const { drawing, view, canvas } = window.legworkDiagram;
    const index = drawing.schematic.symbols.findIndex((symbol) => symbol.path === wanted);
    const rect = drawing.symbols[index];
    const box = canvas.getBoundingClientRect();
    return {
      x: box.x + view.x + view.scale * (rect.x + rect.width / 2),
      y: box.y + view.y + view.scale * (rect.y + rect.height / 2),
    };
  }, path);
}

/** Times between frames, sorted [ms]. */
export const frameTimes = (page, count) =>
  page.evaluate(
    (wanted) =>
      new Promise((done) => {
        const times = [];
        let last = performance.now();
        const tick = () => {
          const now = performance.now();
          times.push(now - last);
          last = now;
          if (times.length < wanted) requestAnimationFrame(tick);
          else done(times.sort((a, b) => a - b));
        };
        requestAnimationFrame(tick);
      }),
    count,
  );

export const clock = async (page) => Number(await page.inputValue("#clock"));
export const drawn = (page) =>
  page.waitForFunction(() => window.legworkDiagram?.drawing && window.legworkDiagram.paintings > 0);

export async function command(page, line) {
  await page.click("#tab-console");
  await page.fill("#console", line);
  await page.press("#console", "Enter");
}

/** Values of the first scope's legend, as text by label. */
export const legend = (page) =>
  page.$$eval(".key li", (items) =>
    Object.fromEntries(
      items
        .filter((item) => item.querySelector("output"))
        .map((item) => [
          item.querySelector(".label").textContent,
          item.querySelector("output").textContent,
        ]),
    ),
  );

export async function toEnd(page) {
  await page.selectOption(".speed select", "null");
  await page.click("#run");
  await until("the end", async () => (await clock(page)) >= end - 1e-9);
}
