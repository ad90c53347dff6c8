// Someone looks at tests, at a fleet, and at what a plan leaves for later.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { open, pageUrl, violations } from "./browser.mjs";
import { copied, ended, start } from "./program.mjs";

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
  assert.match(await detail.textContent(), /Needs network/);
  await detail.getByRole("link", { name: /what it needs/ }).click();
  await page.getByRole("button", { name: "unit network", exact: true }).waitFor();
});

test("a fleet is followed while it is applied, and remembers how that went", async () => {
  const cwd = copied("fleet");
  const server = start(cwd, "explore", "-fleet", "-no-browser");
  const unit = (page, name) => page.getByRole("button", { name, exact: false }).locator(".status");
  try {
    const page = await open(await server.address);
    await page.getByRole("button", { name: /^network/ }).waitFor();
    assert.equal(await page.locator(".status").count(), 0);
    const apply = start(cwd, "fleet", "apply", "-auto-approve");
    await unit(page, /^network/).getByText("applying").waitFor();
    const waiting = page.getByRole("button", { name: /^app\["dev"\]/ });
    await waiting.getByText("waiting").waitFor();
    assert.match(await waiting.textContent(), /after network/);
    await unit(page, /^network/).getByText("applied").waitFor();
    await waiting.getByText("applied").waitFor();
    const failing = page.getByRole("button", { name: /^app\["prod"\]/ });
    await failing.getByText("failed").waitFor();
    assert.equal(await ended(apply), 1, apply.text);
    await page.getByRole("button", { name: "applied 2" }).click();
    await page.getByText("2 units", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Graph of the units" }).click();
    await page.getByRole("button", { name: "unit failed app[\"prod\"]" }).waitFor();
    await page.getByRole("button", { name: "unit applied network" }).waitFor();
  } finally {
    server.kill();
  }
  const written = start(cwd, "explore", "-fleet", "-out=page.html");
  assert.equal(await ended(written), 0, written.text);
  const page = await open(`file://${cwd}/page.html`, { hash: "#/fleet?unit=network" });
  assert.match(await page.locator(".change-detail").textContent(), /Last apply.*: 1 added/);
  assert.deepEqual(await violations(page), []);
  rmSync(cwd, { recursive: true });
});

test("a fleet is followed while it is planned", async () => {
  const cwd = copied("fleet");
  // The plan of a unit waits for a state that is somewhere else until somebody has looked.
  let answer;
  const asked = new Promise((found) => {
    answer = found;
  });
  const states = createServer(async (_, response) => {
    const reply = await asked;
    response.end(reply);
  }).listen(0, "127.0.0.1");
  await once(states, "listening");
  const address = `http://127.0.0.1:${states.address().port}/state`;
  writeFileSync(join(cwd, "network", "others.tf"), `data "terraform_remote_state" "others" {\n  backend = "http"\n  config  = { address = "${address}" }\n}\n`);
  const server = start(cwd, "explore", "-fleet", "-no-browser");
  const unit = (page, name) => page.getByRole("button", { name }).locator(".status");
  try {
    const page = await open(await server.address);
    await page.getByRole("button", { name: /^network/ }).waitFor();
    const plan = start(cwd, "fleet", "plan");
    await unit(page, /^network/).getByText("planning").waitFor();
    await page.getByText("planning: 0 of 3 units").waitFor();
    assert.match(await page.getByRole("button", { name: /^app\["dev"\] / }).textContent(), /waiting.*after network/);
    answer('{"version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": []}');
    await unit(page, /^network/).getByText("planned").waitFor();
    const planned = page.getByRole("button", { name: /^app\["prod"\] / });
    await planned.getByText("planned").waitFor();
    assert.match(await planned.textContent(), /3 to add/);
    assert.equal(await ended(plan), 0, plan.text);
    await page.getByText("planning: ").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "planned 3", exact: true }).click();
    await page.getByRole("link", { name: "Graph of the units" }).click();
    await page.getByRole("button", { name: 'unit planned app["prod"]' }).waitFor();
    assert.deepEqual(await violations(page), []);
  } finally {
    server.kill();
    states.close();
  }
  rmSync(cwd, { recursive: true });
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
    for (const [name, hash] of [["tested", "#/tests"], ["tested", "#/tests/coverage"], ["fleet", "#/fleet?unit=network"], ["fleet", "#/graph"], ["deferred", "#/plan/deferred"], ["outside", "#/plan/drift?change=files_text.edited"], ["outside", "#/plan/checks"], ["woven", "#/graph?open=%20resource%20terraform_data"], ["applied", "#/apply?show=chain"]]) {
      for (const width of [1280, 400]) {
        const page = await open(pageUrl(name), { hash, theme, width, motion: "reduce" });
        await page.waitForTimeout(300);
        assert.deepEqual(await violations(page), [], name + hash);
        await page.context().close();
      }
    }
  });
}
