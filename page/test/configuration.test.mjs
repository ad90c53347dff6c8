// Someone wants to know where a value comes from.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, pageUrl } from "./browser.mjs";

test("a value is found, and its chain leads to what sets it", async () => {
  const page = await open(pageUrl("small"), { hash: "#/configuration" });
  await page.keyboard.press("/");
  await page.keyboard.type("app.local.names");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  const chain = page.getByRole("region", { name: /Where local.names of module.app/ });
  await chain.waitFor();
  const steps = await chain.locator(".step .step-head > .address").allTextContents();
  assert.equal(steps[0], "local.names of module.app");
  assert.ok(steps.includes("var.prefix of module.app"), steps.join());
  assert.ok(steps.includes("local.prefix"), steps.join());
  assert.ok(steps.includes("var.env"), steps.join());
  // Each step is shown in its source, with what it is about highlighted.
  const highlighted = await chain.locator(".step .code-here").allTextContents();
  assert.ok(highlighted.join("").includes('"stage"'), highlighted.join(""));
  // Somebody else can be sent there.
  assert.match(page.url(), /value=module\.app\.local\.names/);
});

test("a reference in the source of a step leads one step further", async () => {
  const page = await open(pageUrl("small"), { hash: "#/configuration?value=local.prefix" });
  await page.getByRole("button", { name: "Go to var.env" }).click();
  await page.getByRole("region", { name: "Where var.env comes from" }).waitFor();
  await page.goBack();
  await page.getByRole("region", { name: "Where local.prefix comes from" }).waitFor();
});

test("what is not known says why", async () => {
  const page = await open(pageUrl("small"), { hash: "#/configuration?value=module.app.var.networks" });
  const panel = page.getByRole("region", { name: /Where var.networks/ });
  await panel.getByText("Known after applying").waitFor();
  assert.match(await panel.locator(".reason").first().textContent(), /terraform_data\.vpc/);
});

test("modules, sources and instances are in the tree", async () => {
  const page = await open(pageUrl("small"), { hash: "#/configuration" });
  await page.getByRole("link", { name: 'net["eu"]' }).click();
  await page.getByRole("heading", { name: 'module.net["eu"]' }).waitFor();
  await page.getByRole("searchbox").fill("stage-acme");
  await page.getByRole("link", { name: /^name/ }).click();
  await page.getByRole("region", { name: /Where var.name of module.net/ }).waitFor();
});

test("an expression in a file has values in every instance of its module", async () => {
  const page = await open(pageUrl("small"), { hash: "#/source/net%2Fmain.tf" });
  await page.getByRole("button", { name: /^Values of var.name/ }).first().click();
  const panel = page.getByRole("region", { name: "Values at the cursor" });
  const values = await panel.locator(".spot").first().textContent();
  assert.match(values, /stage-acme-eu/);
  assert.match(values, /stage-acme-us/);
});

test("a part of an expression has values, too", async () => {
  const page = await open(pageUrl("small"), { hash: "#/source/net%2Fmain.tf" });
  await page.getByRole("button", { name: /^Values of cidrsubnet/ }).first().click();
  const panel = page.getByRole("region", { name: "Values at the cursor" });
  const values = await panel.locator(".spot").first().textContent();
  assert.match(values, /subnet\[0\]\.input"10\.0\.0\.0\/24"/);
  assert.match(values, /subnet\[1\]\.input"10\.0\.1\.0\/24"/);
});

test("a file of many thousand lines comes up at once", async () => {
  const page = await open(pageUrl("blocks"), { hash: "#/source/main.tf" });
  await page.locator(".code-line").first().waitFor();
  assert.ok((await page.locator(".code-line").count()) < 200);
  await page.evaluate(() => (location.hash = "#/configuration?value=terraform_data.r4005.input"));
  await page.locator(".chain .source-link").first().click();
  await page.locator(".code-line-here", { hasText: "terraform_data.r4004.output" }).waitFor();
});
