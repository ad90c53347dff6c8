// Someone reviews a plan that replaces much, and must not miss anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, pageUrl } from "./browser.mjs";

test("a list whose elements are replaced is changed, and so is an object that is not known yet", async () => {
  const page = await open(pageUrl("reviewed"), { hash: "#/plan/outputs" });
  const output = (name) => page.locator(".output-change", { hasText: `${name} ` }).first().locator(".diff");
  const lines = (name, fate) => output(name).locator(`.diff-${fate}`);
  assert.equal(await lines("ids", "changed").count(), 15);
  assert.equal(await lines("ids", "gone").count() + await lines("ids", "new").count(), 0);
  assert.match(await lines("names", "changed").nth(1).textContent(), /"node-0-r1" → "node-0-r2"/);
  assert.equal(await lines("nodes", "changed").count(), 1);
  assert.match(await output("nodes").textContent(), /nodes = \{ 14 attributes \} → \(known after apply\)/);
  await output("nodes").getByRole("button", { name: "14 attributes" }).click();
  assert.equal(await lines("nodes", "gone").count(), 14);
});

test("the changed lines of a text are marked", async () => {
  const page = await open(pageUrl("reviewed"), { hash: "#/plan?change=terraform_data.script" });
  const diff = page.locator(".change.is-open .diff");
  assert.match(await diff.locator(".diff-gone").textContent(), /deploy --release 1/);
  assert.match(await diff.locator(".diff-new").textContent(), /deploy --release 2/);
});

test("a reason is beside its address", async () => {
  const page = await open(pageUrl("reviewed"), { hash: "#/plan", width: 1800 });
  const row = page.locator(".change-row", { hasText: "terraform_data.script" });
  const edge = async (name) => row.locator(name).boundingBox();
  const [name, why] = [await edge(".change-name"), await edge(".change-why")];
  assert.ok(why.x - (name.x + name.width) < 40, `${why.x} after ${name.x + name.width}`);
});
