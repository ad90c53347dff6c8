// Someone follows an apply while it goes on, and looks at it afterwards.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { open, pageUrl } from "./browser.mjs";

const words = process.env.NIGARI.split(" ");
const start = (...args) => spawn(words[0], [...words.slice(1), ...args], { cwd: process.env.DIRECTORY, stdio: ["ignore", "pipe", "inherit"] });

test("an apply is followed live", async () => {
  const server = start("explore", "-no-browser", "-events=run.jsonl", "plan.out");
  try {
    const url = await new Promise((done) => {
      let text = "";
      server.stdout.on("data", (data) => {
        text += data;
        const found = /http:\S+/.exec(text);
        if (found) done(found[0]);
      });
    });
    const page = await open(url);
    await page.getByRole("heading", { name: "Waiting for the apply to begin" }).waitFor();
    const waiting = page.locator(".work.waiting");
    assert.match(await waiting.filter({ hasText: "terraform_data.second" }).textContent(), /after terraform_data\.first/);
    const apply = start("apply", "-json-into=run.jsonl", "plan.out");
    await page.getByRole("heading", { name: "Applying" }).waitFor();
    await page.locator(".work.is-running", { hasText: "terraform_data.first" }).waitFor();
    await page.locator(".work.is-done", { hasText: "terraform_data.first" }).waitFor();
    await page.getByRole("heading", { name: /^Apply complete/ }).waitFor();
    assert.equal(await waiting.count(), 0);
    assert.equal(await page.locator(".work.is-done").count(), 3);
    await page.getByText("2 lines of output").click();
    await page.locator(".output pre", { hasText: "first is made" }).first().waitFor();
    if (apply.exitCode === null) await once(apply, "exit");
    assert.equal(apply.exitCode, 0);
    // Nothing that is secret has come over the wire.
    const traffic = await page.evaluate(async () => (await fetch("events")).text());
    assert.ok(traffic.includes("apply_complete"));
    assert.ok(!traffic.includes("planted"), traffic);
    server.kill("SIGINT");
    await once(server, "exit");
    assert.equal(server.exitCode, 0);
  } finally {
    server.kill();
  }
});

test("an apply that is over is shown from its events", async () => {
  const page = await open(pageUrl("applied"), { hash: "#/apply" });
  await page.getByRole("heading", { name: /^Apply complete/ }).waitFor();
  assert.ok((await page.locator(".work.is-done").count()) > 3);
  await page.getByRole("link", { name: "terraform_data.policy" }).click();
  await page.locator(".change.is-open").waitFor();
});
