// Someone follows an apply while it goes on, and looks at it afterwards.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { open, pageUrl, violations } from "./browser.mjs";
import { copied, ended, start } from "./program.mjs";

/** Let an apply go on that waits for somebody to look. */
const letGo = (cwd, ...names) => names.forEach((name) => writeFileSync(join(cwd, `${name}.go`), ""));
const running = (page, name) => page.locator(".work.is-running", { hasText: name });
const done = (page, name) => page.locator(".work.is-done", { hasText: name });

test("an apply with -explore is followed live, and nothing secret is told", async () => {
  const cwd = copied("live");
  const apply = start(cwd, "apply", "-explore", "plan.out");
  const page = await open(await apply.address);
  await page.getByRole("heading", { name: "Applying" }).waitFor();
  await running(page, "terraform_data.first").waitFor();
  const waiting = page.locator(".work.waiting");
  assert.match(await waiting.filter({ hasText: "terraform_data.second" }).textContent(), /after terraform_data\.first/);
  await page.getByRole("img", { name: "running", exact: true }).waitFor();
  const traffic = await page.evaluate(async () => {
    const reader = (await fetch("events")).body.getReader();
    return new TextDecoder().decode((await reader.read()).value);
  });
  assert.ok(traffic.includes("apply_start"));
  letGo(cwd, "first");
  await done(page, "terraform_data.first").waitFor();
  await running(page, "terraform_data.second").waitFor();
  // What runs is above what has ended, though it began later.
  assert.equal(await page.locator(".work .work-name").first().getAttribute("title"), "terraform_data.second");
  letGo(cwd, "second");
  await page.getByRole("heading", { name: "Apply complete: 3 added, 0 changed, 0 destroyed" }).waitFor();
  assert.equal(await ended(apply), 0, apply.text);
  // The server is gone, and the page is still of use.
  assert.equal(await waiting.count(), 0);
  await page.getByRole("button", { name: /terraform_data\.second/ }).click();
  assert.match(await page.locator(".work-detail").textContent(), /Waited forterraform_data\.first create, [\d.]+ m?s/);
  await page.getByRole("link", { name: "terraform_data.first" }).click();
  await page.locator(".output-text", { hasText: "first is made" }).waitFor();
  assert.match(await page.locator(".work-detail").textContent(), /Needed byterraform_data\.second/);
  await page.getByRole("link", { name: "longest chain" }).click();
  assert.deepEqual(await page.locator(".work .work-name").evaluateAll((all) => all.map((each) => each.title)), ["terraform_data.first", "terraform_data.second"]);
  await page.getByRole("link", { name: /^Plan/ }).click();
  await page.getByRole("button", { name: /terraform_data\.other/ }).waitFor();
  assert.ok(!(traffic + (await page.content())).includes("planted"));
  rmSync(cwd, { recursive: true });
});

test("a browser that leaves, and one that never comes, does not touch the apply", async () => {
  for (const comes of [true, false]) {
    const cwd = copied("live");
    const apply = start(cwd, "apply", "-auto-approve", "-explore");
    const url = await apply.address;
    if (comes) {
      const page = await open(url);
      await running(page, "terraform_data.first").waitFor();
      await page.context().close();
    }
    letGo(cwd, "first", "second");
    assert.equal(await ended(apply), 0, apply.text);
    assert.match(apply.text, /Apply complete! Resources: 3 added/);
    rmSync(cwd, { recursive: true });
  }
});

test("explore shows applies of the directory as they come, and the last one afterwards", async () => {
  const cwd = copied("live");
  const server = start(cwd, "explore", "-no-browser");
  try {
    const page = await open(await server.address, { hash: "#/apply" });
    await page.getByText("Run nigari apply in this directory").waitFor();
    const apply = start(cwd, "apply", "-auto-approve");
    await running(page, "terraform_data.first").waitFor();
    letGo(cwd, "first", "second");
    await page.getByRole("heading", { name: "Apply complete: 3 added, 0 changed, 0 destroyed" }).waitFor();
    assert.equal(await ended(apply), 0, apply.text);
    const destroy = start(cwd, "destroy", "-auto-approve");
    await page.getByRole("heading", { name: "Destroy complete: 0 added, 0 changed, 3 destroyed" }).waitFor();
    assert.equal(await ended(destroy), 0, destroy.text);
    rmSync(join(cwd, "first.go"));
    const killed = start(cwd, "apply", "-auto-approve");
    await running(page, "terraform_data.first").waitFor();
    killed.kill("SIGKILL");
    await page.getByRole("heading", { name: "The apply was interrupted" }).waitFor();
    await page.getByRole("heading", { name: "Not begun" }).waitFor();
    server.kill("SIGINT");
    assert.equal(await ended(server), 0);
  } finally {
    server.kill();
  }
  // Also without a server.
  const written = start(cwd, "explore", "-out=page.html");
  assert.equal(await ended(written), 0, written.text);
  const page = await open(`file://${cwd}/page.html`, { hash: "#/apply" });
  await page.getByRole("heading", { name: "The apply was interrupted" }).waitFor();
  assert.deepEqual(await violations(page), []);
  rmSync(cwd, { recursive: true });
});

test("the page goes on with each round of an apply", async () => {
  const cwd = copied("rounds");
  const apply = start(cwd, "apply", "-allow-deferral", "-auto-approve", "-explore");
  const page = await open(await apply.address);
  let loads = 0;
  page.on("load", () => loads++);
  await running(page, "terraform_data.first").waitFor();
  await page.getByRole("link", { name: /^Plan/ }).click();
  await page.getByRole("link", { name: /^Deferred/ }).waitFor();
  assert.equal(await page.getByRole("button", { name: /terraform_data\.later/ }).count(), 0);
  await page.getByRole("link", { name: /^Apply/ }).click();
  letGo(cwd, "first");
  // The page of the next plan comes in its place, with all that has happened before.
  await running(page, "terraform_data.later[0]").waitFor();
  assert.equal(loads, 1);
  assert.equal(page.url().split("#")[1], "/apply");
  await done(page, "terraform_data.first").waitFor();
  const waiting = page.locator(".work.waiting");
  assert.equal(await waiting.count(), 1);
  assert.match(await waiting.textContent(), /terraform_data\.last.*after terraform_data\.later/);
  await page.getByRole("button", { name: /terraform_data\.first/ }).click();
  assert.match(await page.locator(".work-detail").textContent(), /Needed bynothing/);
  await page.getByRole("link", { name: /^Plan/ }).click();
  await page.getByRole("button", { name: /terraform_data\.last/ }).waitFor();
  assert.equal(await page.getByRole("link", { name: /^Deferred/ }).count(), 0);
  await page.getByRole("link", { name: /^Apply/ }).click();
  letGo(cwd, "second");
  await page.getByRole("heading", { name: "Apply complete: 4 added, 0 changed, 0 destroyed" }).waitFor();
  assert.equal(await ended(apply), 0, apply.text);
  await page.getByRole("link", { name: "longest chain" }).click();
  const chain = await page.locator(".work .work-name").allTextContents();
  assert.deepEqual(chain.map((each) => /terraform_data\.[a-z]+/.exec(each)[0]), ["terraform_data.first", "terraform_data.later", "terraform_data.last"]);
  assert.equal(loads, 1);
  rmSync(cwd, { recursive: true });
});

test("what -json-into writes is followed, too", async () => {
  const cwd = copied("live");
  const server = start(cwd, "explore", "-no-browser", "-events=run.jsonl", "plan.out");
  try {
    const page = await open(await server.address);
    await page.getByRole("heading", { name: "Waiting for the apply to begin" }).waitFor();
    const apply = start(cwd, "apply", "-json-into=run.jsonl", "plan.out");
    await running(page, "terraform_data.first").waitFor();
    letGo(cwd, "first", "second");
    await page.getByRole("heading", { name: /^Apply complete! Resources: 3 added/ }).waitFor();
    assert.equal(await ended(apply), 0, apply.text);
    const traffic = await page.evaluate(async () => (await fetch("events")).text());
    assert.ok(traffic.includes("apply_complete"));
    assert.ok(!traffic.includes("planted"), traffic);
  } finally {
    server.kill();
  }
  rmSync(cwd, { recursive: true });
});

test("an apply that is over is shown from its events", async () => {
  const page = await open(pageUrl("applied"), { hash: "#/apply" });
  await page.getByRole("heading", { name: /^Apply complete/ }).waitFor();
  assert.ok((await page.locator(".work.is-done").count()) > 3);
  await page.getByRole("button", { name: /terraform_data\.policy/ }).click();
  await page.getByRole("link", { name: "What changes" }).click();
  await page.locator(".change.is-open").waitFor();
});
