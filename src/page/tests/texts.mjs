// Texts that change while the run goes on, servers that begin again, what outlives a reload.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { check, run, scratch, until, view } from "./harness.mjs";
import { clock, command, drawn, open, stand, toEnd, wirePlace } from "./page.mjs";

const RAMP = `Diagram(
    run: (stop: "10 s", step: "10 ms"),
    params: { "slope": Param(value: 1.0) },
    blocks: {
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: { "u": "rate.y" }),
    },
    log: ["ramp.y"],
)`;
const STEEP = RAMP.replace(
  '"ramp": Integrator(in: { "u": "rate.y" })',
  '"gain": Gain(gain: 10.0, in: { "u": "rate.y" }), "ramp": Integrator(in: { "u": "gain.y" })',
);

/** A file of its own with the ramp. */
function ramp(name) {
  const file = join(scratch, `${name}.ron`);
  writeFileSync(file, RAMP);
  return file;
}

const at = (page, t) => until(`${t} s`, async () => Math.abs((await clock(page)) - t) < 1e-9);
const banner = (page) => page.locator(".running-text");
const listed = (page) => page.$$eval(".choices li", (all) => all.map((one) => one.textContent));

/** A port that is free now. */
const freePort = () =>
  new Promise((done) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

export const textTests = {
  async "the past stays over an edit of the text"() {
    const file = ramp("past");
    const server = await view(file);
    const { page, faults } = await open(server.address);
    await drawn(page);
    await command(page, "until 1 s");
    await at(page, 1);
    await command(page, "set slope 2");
    writeFileSync(file, STEEP);
    const symbols = () =>
      page.evaluate(() => window.legworkDiagram.drawing.schematic.symbols.length);
    await until("the block", async () => (await symbols()) === 3);
    await command(page, "until 2 s");
    await at(page, 2);
    await page.click("#tab-parameters");
    const edits = await until("two edits", async () => {
      const all = await listed(page);
      return all.length === 2 && all;
    });
    check(edits[0].includes("slope = 2") && edits[1].includes("the text of"), `${edits}`);
    // Back over it: the program of before, and the page says what the disk holds.
    await command(page, "goto 0.5 s");
    await at(page, 0.5);
    await until("the block is gone", async () => (await symbols()) === 2);
    await banner(page).waitFor();
    check((await banner(page).textContent()).includes("past.ron on disk is another"), "it is said");
    await banner(page).locator("button").click();
    await until("the block again", async () => (await symbols()) === 3);
    await banner(page).waitFor({ state: "detached" });
    await at(page, 0.5);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "a broken file is said until it is mended, a newer one is not overwritten"() {
    const file = ramp("broken");
    const server = await view(file);
    const { page, faults } = await open(server.address);
    await drawn(page);
    await command(page, "until 1 s");
    await at(page, 1);
    writeFileSync(file, RAMP.replace("rate.y", "rate.z"));
    await banner(page).waitFor();
    const said = await banner(page).textContent();
    check(
      /Running the text of \d+:\d\d\. broken\.ron on disk has an error at 6:\d+:/.test(said),
      said,
    );
    // It is shown on request, and mended in the page.
    await banner(page).locator("button").click();
    const line = page.locator(".cm-line").filter({ hasText: "rate.z" });
    await line.waitFor();
    await page.waitForSelector(".problems");
    await page.focus(".cm-content");
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(STEEP);
    await page.waitForFunction(() => !document.querySelector(".problems"));
    // Meanwhile somebody else writes it.
    const newer = RAMP.replace("1.0", "4.0");
    const unsaved = async () => (await page.textContent("select[aria-label=File]")).includes("●");
    await until("a mark", unsaved);
    writeFileSync(file, newer);
    await page.focus(".cm-content");
    await page.keyboard.press("Control+s");
    await page.waitForSelector("#overwrite");
    check(readFileSync(file, "utf8") === newer, "the newer text is still there");
    await page.click("#overwrite");
    await page.waitForSelector("#overwrite", { state: "detached" });
    await until("it is written", () => readFileSync(file, "utf8") === STEEP);
    await until("no mark", async () => !(await unsaved()));
    await banner(page).waitFor({ state: "detached" });
    // The other choice.
    await page.focus(".cm-content");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("// mine");
    writeFileSync(file, newer);
    await page.keyboard.press("Control+s");
    await page.click("#reload");
    await until("the text of the disk", async () =>
      (await page.textContent(".cm-content")).includes("4.0"),
    );
    check(readFileSync(file, "utf8") === newer, "nothing is written");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "a server that begins again is found, another one is named"() {
    const file = ramp("again");
    const port = String(await freePort());
    const folder = join(scratch, "login");
    mkdirSync(folder, { mode: 0o700 });
    const before = process.env.XDG_RUNTIME_DIR;
    process.env.XDG_RUNTIME_DIR = folder;
    try {
      let server = await view(file, "--port", port);
      const { page } = await open(server.address);
      await drawn(page);
      await command(page, "until 1 s");
      await at(page, 1);
      const first = server.address;
      await server.stop();
      await page.waitForSelector(".banner >> text=server is gone");
      server = await view(file, "--port", port);
      check(server.address === first, "the address is the same");
      await page.waitForSelector(".banner", { state: "detached" });
      await at(page, 0);
      await command(page, "until 0.5 s");
      await at(page, 0.5);
      await server.stop();
      // A server that never knew the page.
      process.env.XDG_RUNTIME_DIR = "";
      server = await view(file, "--port", port);
      await page.waitForSelector(".banner >> text=Another server runs here");
      await page.goto(server.address);
      await drawn(page);
      await page.close();
      await server.stop();
    } finally {
      if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
      else process.env.XDG_RUNTIME_DIR = before;
    }
  },

  async "scopes outlive a reload, and keys do all that a mouse does"() {
    const server = await view(stand);
    const { page, faults } = await open(server.address);
    await drawn(page);
    const wire = await wirePlace(page, "pd", "tau", "act");
    await page.mouse.click(wire.x, wire.y);
    await page.waitForSelector(".scope");
    const mode = page.locator('.scope [aria-label="What is drawn"]');
    await toEnd(page);
    await mode.selectOption("spectrum");
    await page.reload();
    await drawn(page);
    await page.waitForSelector(".scope");
    check((await mode.inputValue()) === "spectrum", "the mode is what it was");
    await mode.selectOption("time");
    const rows = () => page.evaluate(() => window.legworkSamples(0, "pd.tau")?.rows ?? 0);
    await until("all samples", async () => (await rows()) >= 3000);

    // The scope: zoomed, panned, and shown whole again.
    const range = () =>
      page.evaluate(() => {
        const key = `legwork-scopes ${document.title.split(" · ")[0]}`;
        return JSON.parse(sessionStorage.getItem(key)).scopes[0].range;
      });
    await page.keyboard.press("s");
    await page.keyboard.press("+");
    const zoomed = await until("a window", range);
    await page.keyboard.press("PageDown");
    const panned = await until("another", async () => {
      const now = await range();
      return now && now[0] !== zoomed[0] && now;
    });
    const width = zoomed[1] - zoomed[0];
    check(Math.abs(panned[0] - zoomed[0] - width / 4) < 1e-9, `panned from ${zoomed} to ${panned}`);
    await page.keyboard.press("PageUp");
    await until("back", async () => Math.abs((await range())[0] - zoomed[0]) < 1e-9);
    await page.keyboard.press("0");
    await until("all", async () => (await range()) === null);

    // The camera: panned and turned.
    await page.keyboard.press("r");
    const target = () =>
      page.evaluate(() => window.legworkWorld.controls.target.toArray().map((x) => +x.toFixed(6)));
    const place = await target();
    await page.keyboard.press("Shift+ArrowRight");
    await until("it has moved", async () => `${await target()}` !== `${place}`);
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },

  async "a recording is saved with the bits of a headless run"() {
    const server = await view(stand, "--set", 'run.stop="0.3 s"');
    const { page, faults } = await open(server.address);
    await drawn(page);
    await page.selectOption(".speed select", "null");
    await page.click("#run");
    await at(page, 0.3);
    const save = page.locator("#save-recording");
    const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
    const saved = readFileSync(await download.path());
    const out = join(scratch, "headless");
    await run("run", stand, "--set", 'run.stop="0.3 s"', "--out", out, "--no-checks", "-q");
    check(saved.equals(readFileSync(join(out, "run.mcap"))), "the recordings differ");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    await server.stop();
  },
};
