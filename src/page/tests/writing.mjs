// The text: what can be written, manuals, definitions.

import { check, until, view } from "./harness.mjs";
import { drawn, open, stand } from "./page.mjs";

export const writingTests = {
  async "a path is completed, a block explained, a definition found"() {
    const server = await view(stand);
    const { page, faults } = await open(server.address);
    await drawn(page);
    await page.click("#tab-text");
    await page.waitForSelector(".cm-content");
    await page.locator(".cm-line").filter({ hasText: '"pd":' }).click();
    await page.keyboard.press("Control+f");
    await page.keyboard.type('body.state" }),');
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowRight");
    for (let i = 0; i < 'state" }),'.length; i++) await page.keyboard.press("ArrowLeft");
    for (let i = 0; i < "state".length; i++) await page.keyboard.press("Delete");
    await page.keyboard.press("Control+Space");
    const option = page.locator(".cm-tooltip-autocomplete li").first();
    await option.waitFor();
    check((await option.textContent()).includes("state: State(go)"), await option.textContent());
    // What is offered is not taken within the time of a slip of the finger.
    await page.waitForTimeout(200);
    await page.keyboard.press("Enter");
    const line = page.locator(".cm-line").filter({ hasText: '"pd":' });
    await until("the path", async () => (await line.textContent()).includes('"body.state" })'));
    await page.waitForFunction(() => !document.querySelector(".problems"));

    // F12 leads from the path to the block.
    await page.keyboard.press("F12");
    await until("the definition", async () =>
      (await page.textContent(".cm-activeLine")).includes("FloatingBase"),
    );

    await page.mouse.move(1, 1);
    await line.getByText("JointPd", { exact: true }).hover();
    const manual = page.locator(".cm-tooltip .manual");
    await manual.waitFor();
    check((await manual.textContent()).includes("of the shelf control"), "the manual of JointPd");
    check(faults.length === 0, `the browser says: ${faults.join("; ")}`);
    await page.close();
    check((await server.stop()) !== null, "the server ends");
  },
};
