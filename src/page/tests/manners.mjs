// Names, keys, lost servers, files.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, parse, root, scratch, until, view } from "./harness.mjs";
import {
  shared,
  open,
  stand,
  end,
  step,
  table,
  symbolPlace,
  wirePlace,
  clock,
  drawn,
  command,
  legend,
  toEnd,
} from "./page.mjs";

export const mannersTests = {
  async "names are text, whatever is in them"() {
    const file = join(scratch, "hostile.ron");
    const name = "<img src=x onerror=alert(1)>";
    writeFileSync(
      file,
      `Diagram(format: 2, doc: "${name}", run: (stop: "1 s", step: "1 ms"),
        params: { "k": Param(value: 1.0, doc: "${name}") },
        blocks: { "a": Sine(amplitude: "=k") }, log: ["a.y"])`,
    );
    const server = await view(file);
    const { page, faults } = await open(server.address);
    await drawn(page);
    for (const tab of ["console", "parameters", "text", "stops", "differences"]) {
      await page.click(`#tab-${tab}`);
      await page.waitForTimeout(100);
    }
    await command(page, `print ${name}`);
    await command(page, `watch ${name}`);
    await page.waitForTimeout(300);
    check((await page.$$("img")).length === 0, "an element was made of a name");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "what is typed as soon as a field is there is kept, and is that of its value"() {
    const server = await view(stand);
    const { page, faults } = await open(server.address);
    await drawn(page);
    // Before the browser has drawn the field.
    await page.evaluate(() => {
      const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
      const watch = new MutationObserver(() => {
        const field = document.querySelector('[id$="kp"]');
        if (!field) return;
        watch.disconnect();
        set.call(field, "90");
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      watch.observe(document.body, { childList: true, subtree: true });
    });
    const { x, y } = await symbolPlace(page, "pd");
    await page.mouse.click(x, y);
    const field = page.locator('[id$="kp"]').first();
    const kp = () => field.inputValue();
    await field.waitFor();
    // Two frames later, what follows a drawing is done.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    check((await kp()) === "90", `kept: ${await kp()}`);
    const before = "60";
    await field.press("Enter");
    await until("it is set", async () =>
      (await page.textContent(".console .lines")).includes("changes `pd`"),
    );
    await command(page, `set pd.kp ${before}`);
    await page.mouse.click(x, y);
    await until("the value of the run", async () => (await kp()) === before);
    // What is wrong gives way to what is set.
    await field.fill("1 kg");
    await field.press("Enter");
    await until("the value that stays", async () => (await kp()) === before);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "what a block calls opens and closes"() {
    const server = await view(join(root, "tests/data/run/functions.ron"));
    const { page, faults } = await open(server.address);
    await drawn(page);
    const paths = () =>
      page.evaluate(() => window.legworkDiagram.drawing.schematic.symbols.map(({ path }) => path));
    await page.click('[aria-label="Close all frames"]');
    await until("it is closed", async () => !(await paths()).includes("two.f.sum"));
    const { x, y } = await symbolPlace(page, "two");
    await page.mouse.dblclick(x, y);
    await until("the call", async () => (await paths()).includes("two.f"));
    // What lies deeper is found, and opens on the way.
    await page.fill("#search", "two.f.sum");
    await page.press("#search", "Enter");
    await until("the inside", async () => (await paths()).includes("two.f.sum"));
    const about = await page.waitForSelector('.inspector[aria-label="About two.f.sum"]');
    await until("its manual", async () =>
      (await about.textContent()).includes("when it is called"),
    );
    // A wire inside has no signal: that is said, and no scope opens.
    const wire = await wirePlace(page, "two.f.one", "y", "two.f.sum");
    await page.mouse.click(wire.x, wire.y);
    await page.waitForSelector("text=live only inside a call");
    check((await page.$$(".scope")).length === 0, "a scope of nothing");
    await page.focus("#diagram");
    for (const gone of ["two.f.sum", "two.f"]) {
      const at = await symbolPlace(page, gone);
      await page.mouse.click(at.x, at.y);
      await page.press("#diagram", "Backspace");
      await until("it is closed", async () => !(await paths()).includes(gone));
    }
    check((await paths()).includes("two"), "the caller is left");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "a lost server is said and found again"() {
    const server = await view(stand);
    const { page } = await open(server.address, {}, () => {
      // What breaks a connection, such as sleep, is not at hand: the page's end is closed.
      const Plain = window.WebSocket;
      window.sockets = [];
      window.WebSocket = class extends Plain {
        constructor(...args) {
          super(...args);
          window.sockets.push(this);
        }
      };
    });
    await drawn(page);
    const wire = await wirePlace(page, "pd", "tau", "act");
    await page.mouse.click(wire.x, wire.y);
    await command(page, "step 100");
    await until("0.1 s", async () => Math.abs((await clock(page)) - 0.1) < 1e-9);
    // The banner may be gone again before a look from outside.
    await page.evaluate(
      () =>
        new Promise((done) => {
          const observer = new MutationObserver(() => {
            if (!document.querySelector(".banner")) return;
            observer.disconnect();
            done();
          });
          observer.observe(document.body, { childList: true, subtree: true });
          window.sockets.at(-1).close();
        }),
    );
    await page.waitForSelector(".banner", { state: "detached" });
    await command(page, "step 100");
    await until("0.2 s", async () => Math.abs((await clock(page)) - 0.2) < 1e-9);
    // The outputs of the step at 0.2 s are still to come.
    const wanted = shared.recorded.at("pd.tau", 0.199);
    await until("the scope goes on", async () => {
      const values = Object.values(await legend(page)).map(parse);
      return values.some((value) => Math.abs(value - wanted[2]) < 1e-4);
    });
    await server.stop();
    await page.waitForSelector(".banner");
    check((await page.textContent(".banner")).includes("server is gone"), "the banner says why");
    await page.close();
  },

  async "the keys do what their sheet says"() {
    const server = await view(stand);
    const { page, faults } = await open(server.address);
    await drawn(page);
    await page.keyboard.press("?");
    await page.waitForSelector("dialog.keys[open]");
    await page.keyboard.press("Escape");
    await page.keyboard.press(".");
    await until("one step", async () => Math.abs((await clock(page)) - step) < 1e-9);
    await page.keyboard.press("]");
    await until("ten more", async () => Math.abs((await clock(page)) - 11 * step) < 1e-9);
    await page.keyboard.press("[");
    await until("ten back", async () => Math.abs((await clock(page)) - step) < 1e-9);
    await page.keyboard.press("d");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector(".inspector");
    await page.keyboard.press("g");
    await page.waitForSelector(".scope");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".inspector", { state: "detached" });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await page.keyboard.press("l");
    check((await theme()) !== before, "light or dark");
    const unnamed = await page.$$eval("button, input, select, canvas", (all) =>
      all
        .filter((element) => element.offsetParent && !element.closest('[role="img"]'))
        .filter((element) => {
          const name =
            element.getAttribute("aria-label") ||
            element.textContent.trim() ||
            element.labels?.[0]?.textContent.trim();
          return !name;
        })
        .map((element) => element.outerHTML.slice(0, 80)),
    );
    check(unnamed.length === 0, `without a name for screen readers: ${unnamed}`);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "what is seen is exported"(note) {
    const server = await view(stand);
    const { page, faults } = await open(server.address);
    await drawn(page);
    const wire = await wirePlace(page, "pd", "tau", "act");
    await page.mouse.click(wire.x, wire.y);
    await page.waitForSelector(".scope");
    await toEnd(page);
    await until("the end in the scope", async () => {
      const [first] = Object.values(await legend(page));
      return Math.abs(parse(first) - shared.recorded.at("pd.tau", end)[0]) < 1e-5;
    });
    const exported = async (click) => {
      const [download] = await Promise.all([page.waitForEvent("download"), click()]);
      return readFileSync(await download.path());
    };
    const button = (kind) => () => page.locator(".scope .tools button", { hasText: kind }).click();
    writeFileSync(join(scratch, "scope.csv"), await exported(button("csv")));
    const rows = table(join(scratch, "scope.csv"));
    for (const t of [0, 0.1, 0.5, 1.234, end]) {
      const [seen, wanted] = [rows.at("pd.tau", t), shared.recorded.at("pd.tau", t)];
      check(
        seen.length === 12 && seen.every((v, i) => v === wanted[i]),
        `the row at ${t} s: ${seen}`,
      );
    }
    const svg = (await exported(button("svg"))).toString();
    check(svg.startsWith("<svg") && (svg.match(/<polyline/g) ?? []).length === 12, "twelve curves");
    // Of another mode what that mode shows, not the samples over time.
    const mode = page.locator('.scope [aria-label="What is drawn"]');
    await mode.selectOption("histogram");
    const counts = (await exported(button("csv"))).toString().trim().split("\n");
    const sum = counts.slice(1).reduce((all, row) => all + Number(row.split(",")[1]), 0);
    check(counts[0].includes("samples of pd.tau") && sum === rows.count, `counts: ${counts[0]}`);
    const bars = (await exported(button("svg"))).toString();
    check(!bars.includes("<polyline") && bars.includes("stroke-width"), "bars");
    await mode.selectOption("time");
    const png = await exported(button("png"));
    check(png.subarray(1, 4).toString() === "PNG" && png.length > 5000, "a picture");
    const record = page.locator('[aria-label="Record a film"]');
    await record.click();
    await page.fill("#clock", "0.1");
    await page.press("#clock", "Enter");
    await page.click("#run");
    await page.waitForTimeout(1500);
    const film = await exported(() => record.click());
    check(film.readUInt32BE(0) === 0x1a45dfa3 && film.length > 5000, "a film in WebM");
    note(`csv ${rows.count} rows, png ${png.length} B, film ${film.length} B`);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },
};
