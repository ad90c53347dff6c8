// Every view in light and dark, wide and narrow: accessible, without jumps, with the keyboard alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, pageUrl, violations } from "./browser.mjs";

const VIEWS = {
  plan: "#/plan?change=terraform_data.release%5B0%5D",
  outputs: "#/plan/outputs",
  checks: "#/plan/checks",
  configuration: "#/configuration",
  chain: "#/configuration?value=module.app.local.names",
  source: "#/source/main.tf?at=345-357",
  graph: "#/graph",
  node: "#/graph?focus=module.app.terraform_data.server",
  apply: "#/apply",
  work: "#/apply?work=update%20terraform_data.policy",
};

for (const theme of ["light", "dark"]) {
  for (const width of [1280, 400]) {
    test(`axe finds nothing, in ${theme} at ${width} pixels`, async () => {
      for (const [name, hash] of Object.entries(VIEWS)) {
        const page = await open(pageUrl("applied"), { hash, width, theme, motion: "reduce" });
        await page.waitForTimeout(name === "graph" || name === "node" ? 600 : 150);
        assert.deepEqual(await violations(page), [], name);
        await page.context().close();
      }
    });
  }
}

test("both themes follow the system, and a choice stays", async () => {
  const colour = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await open(pageUrl("small"), { theme: "dark" });
  const light = await open(pageUrl("small"), { theme: "light" });
  assert.notEqual(await colour(dark), await colour(light));
  await light.getByRole("button", { name: "Colours: auto" }).click();
  await light.getByRole("button", { name: "Colours: light" }).click();
  await light.getByRole("button", { name: "Colours: dark" }).waitFor();
  await light.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  assert.equal(await colour(light), await colour(dark));
  await light.reload();
  await light.getByRole("button", { name: "Colours: dark" }).waitFor();
  assert.equal(await colour(light), await colour(dark));
});

test("nothing jumps while a view comes up", async () => {
  for (const hash of Object.values(VIEWS)) {
    const page = await open(pageUrl("applied"), { hash });
    await page.waitForTimeout(500);
    const shift = await page.evaluate(
      () =>
        new Promise((done) => {
          let sum = 0;
          new PerformanceObserver((list) => list.getEntries().forEach((each) => (sum += each.value))).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => done(sum), 50);
        }),
    );
    assert.ok(shift < 0.02, `${hash}: ${shift}`);
    await page.context().close();
  }
});

test("a plan is reviewed with the keyboard alone", async () => {
  const page = await open(pageUrl("small"), { hash: "#/plan" });
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  const tabTo = async (wanted) => {
    for (let at = 0; at < 60; at++) {
      await page.keyboard.press("Tab");
      if (wanted.test(await focused())) return;
    }
    assert.fail(`${wanted} is not reached`);
  };
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to content");
  await page.keyboard.press("Enter");
  await tabTo(/^.?terraform_data\.policy/);
  await page.keyboard.press("Enter");
  await page.locator(".change.is-open").waitFor();
  await tabTo(/^main\.tf:/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "main.tf" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("var.env");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Where var.env comes from" }).waitFor();
  await page.keyboard.press("/");
  await page.locator("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
});
