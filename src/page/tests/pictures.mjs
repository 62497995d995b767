// Makes the pictures of the page: `node pictures.mjs [FOLDER]`, by default src/page/pictures.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { browse, open, root, tests, until, view } from "./harness.mjs";

const folder = resolve(process.env.FOLDER ?? join(root, "src/page/pictures"));

/** Pictures have smooth edges, for which there is time. */
const smooth = () => {
  const plain = WebGLRenderingContext.prototype.getExtension;
  WebGLRenderingContext.prototype.getExtension = function (name) {
    return name === "WEBGL_debug_renderer_info" ? null : plain.call(this, name);
  };
};

const clock = async (page) => Number(await page.inputValue("#clock"));

async function to(page, t) {
  await page.click("#tab-console");
  await page.fill("#console", `until ${t} s`);
  await page.press("#console", "Enter");
  await until(`${t} s`, async () => (await clock(page)) >= t - 1e-9, 60_000);
  await page.waitForTimeout(500);
}

/** Adds a recorded signal to the scope. */
const scope = async (page, path) => {
  await page.fill("#search", "");
  await page.evaluate((wanted) => window.legworkScope(wanted), path);
  await page.waitForTimeout(300);
};

const press = (page, label) => page.locator(".robot .tools button", { hasText: label }).click();

const pictures = {
  async stand(page) {
    await scope(page, "contact.f");
    await press(page, "shadows");
    await to(page, 0.05);
    await page.click("#fork");
    await page.fill("#fork-name", "hertz");
    await page.selectOption('[data-variant="contact"]', "hertz");
    await page.click("#fork-go");
    await page.waitForSelector(".source >> nth=1");
    await page.locator("button", { hasText: "run both" }).click();
    await until("the end", async () => (await clock(page)) >= 3 - 1e-9, 60_000);
    await page.waitForSelector(".differences tbody tr");
    await page.waitForTimeout(1500);
  },
  async trot(page) {
    await press(page, "trails");
    await press(page, "shadows");
    await scope(page, "act.tau");
    await page.selectOption(".speed select", "2");
    await page.click("#run");
    await until("2.5 s", async () => (await clock(page)) > 2.5, 60_000);
    await page.click("#run");
    await page.click("[aria-label='Time of each block per step']");
    await page.waitForSelector(".legend .heat");
    await page.locator("button", { hasText: "follow" }).last().click();
    await page.click("#tab-text");
  },
  async icub(page) {
    await press(page, "CoM");
    await press(page, "shadows");
    await scope(page, "pd.tau");
    await to(page, 1.2);
    await page.click("#tab-stops");
  },
  async signals(page) {
    await scope(page, "position.y");
    await scope(page, "gear.y");
    await to(page, 6);
    await page.click("#tab-text");
  },
};

const FILES = {
  stand: ["diagrams/quadruped/stand.ron", "light"],
  trot: ["diagrams/quadruped/trot.ron", "dark"],
  icub: ["diagrams/floating_base/stand.ron", "light"],
  signals: ["diagrams/signals/limit_cycle.ron", "light"],
};

mkdirSync(folder, { recursive: true });
let browser;
await tests(
  Object.fromEntries(
    Object.entries(FILES).map(([name, [file, colorScheme]]) => [
      name,
      async () => {
        browser ??= await browse();
        const server = await view(file);
        const viewport = { width: 1280, height: 760 };
        const { page } = await open(browser, server.address, { viewport, colorScheme }, smooth);
        await page.waitForFunction(() => window.legworkDiagram?.paintings > 0);
        await page.waitForTimeout(1500);
        await pictures[name](page);
        await page.mouse.move(2, 2);
        await page.waitForTimeout(1200);
        await page.screenshot({ path: join(folder, `${name}.png`) });
        await page.close();
        await server.stop();
      },
    ]),
  ),
);
