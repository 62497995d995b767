// What the browser tests share: a server, a browser, and a list of what went wrong.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";

const require = createRequire(new URL("../app/package.json", import.meta.url));
const { chromium } = require("playwright-core");

export const root = resolve(import.meta.dirname, "../../..");
export const legwork = process.env.LEGWORK ?? join(root, "target/release/legwork");
/** A folder whose page is tried in place of that in the binary, so that nothing need be built. */
const overlay = process.env.PAGE_DIST;
export const scratch = mkdtempSync(join(tmpdir(), "legwork-page-"));

/** Longest that anything is waited for [ms]; the machine may be busy. */
export const PATIENCE = 20_000;

const ended = [];
const pages = [];

/** Runs `legwork` to its end. */
export function run(...args) {
  return new Promise((done, fail) => {
    const child = spawn(legwork, args, { cwd: root });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.on("error", fail);
    child.on("close", (code) => {
      if (code === 0) done(out);
      else fail(new Error(`legwork ${args.join(" ")} ended with ${code}: ${err}`));
    });
  });
}

/** Starts `legwork view` and waits for its address. */
export function view(file, ...args) {
  return new Promise((done, fail) => {
    const began = performance.now();
    const child = spawn(legwork, ["view", file, "--no-open", ...args], {
      cwd: root,
    });
    let [out, err] = ["", ""];
    child.stderr.on("data", (data) => (err += data));
    child.on("error", fail);
    const closed = new Promise((gone) => child.on("close", gone));
    const stop = async () => {
      child.kill("SIGINT");
      const late = setTimeout(() => child.kill("SIGKILL"), 5000);
      const code = await closed;
      clearTimeout(late);
      return code;
    };
    ended.push(stop);
    child.stdout.on("data", (data) => {
      out += data;
      const address = out.match(/https?:\/\/\S+/);
      if (address) done({ address: address[0], stop, began, pid: child.pid });
    });
    void closed.then((code) => fail(new Error(`no address, ended with ${code}: ${err}`)));
  });
}

/** A browser that asks nobody but the server. */
export async function browse() {
  const flags = [
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    // As on a machine without a graphics card: the page itself is put together without GL.
    "--disable-gpu-compositing",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ];
  // A page that is laid over the server's does not come from this machine, says Chromium.
  if (overlay) flags.push("--disable-features=LocalNetworkAccessChecks");
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  // A fresh profile each time.
  const browser = await chromium.launch({ executablePath, args: flags });
  ended.push(() => browser.close());
  return browser;
}

/** Opens a page that stands in a file. */
export async function openFile(browser, file) {
  if (overlay) {
    const read = (name) => readFileSync(join(overlay, name), "utf8");
    const [data] = /<script type="application\/octet-stream"[^>]*>[^<]*<\/script>/.exec(
      readFileSync(file, "utf8"),
    );
    const style = `<style>${read("assets/app.css")}</style>`;
    const script = `${data}<script>${read("assets/app.js")}</script>`;
    const page = read("index.html")
      .replace('<link rel="stylesheet" href="assets/app.css">', () => style)
      .replace('<script src="assets/app.js"></script>', () => script);
    writeFileSync(file, page);
  }
  return open(browser, pathToFileURL(file).href);
}

/** Opens a page; what it logs as an error, and whom it asks, is kept. */
export async function open(browser, address, options = {}, before = () => {}) {
  const viewport = { width: 1440, height: 860 };
  const page = await browser.newPage({ viewport, ...options });
  pages.push(page);
  await page.addInitScript(before);
  page.setDefaultTimeout(PATIENCE);
  const faults = [];
  page.on("console", (message) => {
    // A picture of a canvas with GL is read back from it; Chromium finds that slow.
    const slow = message.text().includes("GPU stall due to ReadPixels");
    if (["error", "warning"].includes(message.type()) && !slow) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  const own = new URL(address).host;
  page.on("request", (request) => {
    const { host, protocol } = new URL(request.url());
    if (["data:", "blob:", "file:"].includes(protocol)) return;
    if (host !== own) faults.push(`it asks ${request.url()}`);
  });
  if (overlay && address.startsWith("http")) {
    const file = (url) => join(overlay, url.pathname === "/" ? "index.html" : url.pathname);
    await page.route(
      (url) => url.pathname === "/" || url.pathname.startsWith("/assets/"),
      async (route) => {
        const path = file(new URL(route.request().url()));
        if (!path.endsWith("index.html")) return route.fulfill({ path });
        return route.fulfill({
          response: await route.fetch(),
          body: readFileSync(path),
        });
      },
    );
  }
  await page.goto(address);
  return { page, faults };
}

/** Waits until something holds. */
export async function until(what, holds, patience = PATIENCE) {
  const began = performance.now();
  let last;
  for (;;) {
    last = await holds();
    if (last) return last;
    if (performance.now() - began > patience) throw new Error(`in vain: ${what}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

export function check(holds, words) {
  if (!holds) throw new Error(words);
}

export function close(a, b, relative, words) {
  const most = relative * Math.max(1e-9, Math.abs(b));
  check(Math.abs(a - b) <= most, `${words}: ${a}, and not ${b}`);
}

/** A number as the page writes it. */
export const parse = (text) => Number(text.replaceAll("−", "-").replace(/[^\d.eE+-].*$/, ""));

/** All numbers in a text of the page. */
export const numbersIn = (text) =>
  (text.replaceAll("−", "-").match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).map(Number);

/** Pixels of a PNG without interlacing, 8 bits a channel. */
export function pixels(png) {
  let at = 8;
  let [width, height, channels] = [0, 0, 0];
  const parts = [];
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    const kind = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = { 2: 3, 6: 4 }[data[9]];
      check(data[8] === 8 && channels && data[12] === 0, "an unknown kind of PNG");
    } else if (kind === "IDAT") parts.push(data);
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const out = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const i = y * stride + x;
      const a = x >= channels ? out[i - channels] : 0;
      const b = y ? out[i - stride] : 0;
      const c = x >= channels && y ? out[i - stride - channels] : 0;
      const p = a + b - c;
      const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
      const paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      const guess = [0, a, b, (a + b) >> 1, paeth][filter];
      out[i] = (raw[y * (stride + 1) + 1 + x] + guess) & 255;
    }
  }
  return { width, height, channels, data: out };
}

/** Part of the pixels of an element that are unlike its most frequent colour. */
export async function painted(locator, box) {
  const { width, height, channels, data } = pixels(await locator.screenshot());
  const [x0, y0, x1, y1] = (box ?? [0, 0, 1, 1]).map((part, i) =>
    Math.round(part * (i % 2 ? height : width)),
  );
  const counts = new Map();
  let [all, other] = [0, 0];
  const colour = (x, y) => {
    const i = (y * width + x) * channels;
    return (data[i] >> 3) * 1024 + (data[i + 1] >> 3) * 32 + (data[i + 2] >> 3);
  };
  for (let y = y0; y < y1; y++) {
    for (let x = x0; x < x1; x++) {
      counts.set(colour(x, y), (counts.get(colour(x, y)) ?? 0) + 1);
      all++;
    }
  }
  const [ground] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  for (const [key, count] of counts) if (key !== ground) other += count;
  return { part: other / all, colours: counts.size };
}

/** With PICTURES, a folder, what open pages show when a test fails. */
async function pictures(name) {
  const folder = process.env.PICTURES;
  if (!folder) return;
  for (const [i, page] of pages.filter((page) => !page.isClosed()).entries()) {
    await page.screenshot({
      path: join(folder, `${name.replace(/\W+/g, "_").slice(0, 20)}_${i}.png`),
    });
  }
}

/** Runs tests one after the other; the first failure ends a group, and the exit code tells. */
export async function tests(groups) {
  const failed = [];
  const only = process.argv.slice(2);
  for (const [name, body] of Object.entries(groups)) {
    const asked = !only.length || only.some((word) => name.includes(word));
    if (!asked && name !== "preparation") continue;
    const began = performance.now();
    const notes = [];
    try {
      await body((note) => notes.push(note));
      console.log(`ok    ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
      console.log(`FAIL  ${name}: ${error.stack}`);
      await pictures(name);
    }
    for (const note of notes) console.log(`      ${note}`);
  }
  for (const stop of ended) await stop();
  rmSync(scratch, { recursive: true, force: true });
  // Once more where a long output ends.
  for (const line of failed) console.log(`failed: ${line}`);
  process.exit(failed.length ? 1 : 0);
}
