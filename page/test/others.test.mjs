// Someone looks at tests, at a fleet, and at what a plan leaves for later.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, pageUrl, violations } from "./browser.mjs";

test("a run that failed says which assertion, and where its values come from", async () => {
  const page = await open(pageUrl("tested"));
  await page.getByRole("heading", { name: /^Failure! 1 passed, 1 failed/ }).waitFor();
  const failure = await page.locator(".failure").textContent();
  assert.match(failure, /It is B, not A\./);
  assert.match(failure, /<- output\.o = "B"/);
  await page.getByRole("link", { name: "Coverage" }).click();
  const missing = page.locator(".check", { hasText: "output.unused" });
  assert.match(await missing.textContent(), /missing/);
  await missing.getByRole("link").click();
  assert.match(await page.locator(".code-line-here").textContent(), /output "unused"/);
});

test("the units of a fleet have their needs and their graph", async () => {
  const page = await open(pageUrl("fleet"));
  await page.getByRole("button", { name: /^app\["prod"\]/ }).click();
  const detail = page.locator(".change-detail");
  assert.match(await detail.textContent(), /needs network/);
  await detail.getByRole("link", { name: /what it needs/ }).click();
  await page.getByRole("button", { name: "unit network", exact: true }).waitFor();
});

test("what is deferred says what it waits for", async () => {
  const page = await open(pageUrl("deferred"));
  await page.getByRole("link", { name: /^Deferred/ }).click();
  const text = await page.locator(".problem").first().textContent();
  assert.match(text, /round 2/);
  assert.match(text, /terraform_data\.later/);
  assert.match(text, /terraform_data\.a/);
});

for (const theme of ["light", "dark"]) {
  test(`axe finds nothing here either, in ${theme}`, async () => {
    for (const [name, hash] of [["tested", "#/tests"], ["tested", "#/tests/coverage"], ["fleet", "#/fleet?unit=network"], ["fleet", "#/graph"], ["deferred", "#/plan/deferred"]]) {
      for (const width of [1280, 400]) {
        const page = await open(pageUrl(name), { hash, theme, width, motion: "reduce" });
        await page.waitForTimeout(300);
        assert.deepEqual(await violations(page), [], name + hash);
        await page.context().close();
      }
    }
  });
}
