// Someone reviews a plan that replaces much, and must not miss anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, pageUrl, violations } from "./browser.mjs";

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

test("the head says when, where and by which command", async () => {
  const page = await open(pageUrl("reviewed"), { hash: "#/plan" });
  const made = await page.locator(".made").textContent();
  assert.match(made, /^Planned\w+ \d+, \d{4}, .*Workspacedefault.*Commandnigari explore -out=\S+ plan\.out$/);
});

test("what is destroyed or replaced and failed checks are said first", async () => {
  const page = await open(pageUrl("reviewed"), { hash: "#/plan/outputs" });
  const alerts = page.getByRole("list", { name: "Take care" });
  assert.deepEqual(await alerts.getByRole("listitem").allTextContents(), [
    "1 object will be destroyedterraform_data.former",
    "15 objects will be replacedterraform_data.node[0], terraform_data.node[1], terraform_data.node[2] and 12 more",
    "1 check does not passcheck.enough",
  ]);
  await alerts.getByRole("link", { name: "1 object will be destroyed" }).click();
  await page.getByText("1 change", { exact: true }).waitFor();
  await alerts.getByRole("link", { name: "1 check" }).click();
  await page.getByText("There are too few names.").waitFor();
  const outside = await open(pageUrl("outside"), { hash: "#/plan" });
  await outside.getByRole("list", { name: "Take care" }).getByRole("link", { name: "3 objects were changed outside" }).click();
  await outside.getByRole("button", { name: /files_text\.edited/ }).waitFor();
  const alike = await open(pageUrl("alike"), { hash: "#/plan" });
  await alike.getByRole("button", { name: /terraform_data.same/ }).waitFor();
  assert.equal(await alike.locator(".alerts").count(), 0);
});

test("a failed check shows its condition and the values behind it", async () => {
  const page = await open(pageUrl("reviewed"), { hash: "#/plan/checks" });
  const check = page.locator(".check");
  assert.match(await check.locator(".code-here").allTextContents().then((all) => all.join("")), /length\(local\.names\) >= local\.least/);
  const text = await check.textContent();
  assert.match(text, /local\.least = 20/);
  assert.match(text, /local\.names = \["node-0-r2"/);
  assert.match(text, /var\.password = \(sensitive value\)/);
  await check.getByRole("link", { name: "main.tf:34" }).click();
  assert.match(await page.locator(".code-line-here").textContent(), /condition/);
});

test("an apply from before the plan is called so, and the last apply of a configuration", async () => {
  const planned = await open(pageUrl("reviewed"), { hash: "#/plan" });
  await planned.getByRole("link", { name: "Earlier apply" }).click();
  await planned.getByText("This apply was before the plan of this page was made.").waitFor();
  const stored = await open(pageUrl("stored"));
  await stored.getByRole("link", { name: "Last apply" }).click();
  await stored.getByRole("heading", { name: /^Apply complete/ }).waitFor();
  assert.equal(await stored.getByText("This apply was before").count(), 0);
  // An apply of the plan itself is just that.
  const applied = await open(pageUrl("applied"));
  await applied.getByRole("link", { name: "Apply", exact: true }).waitFor();
});

test("a resource lists its instances with what the state says of them and what is planned", async () => {
  for (const [name, isPlan] of [["stored", false], ["reviewed", true]]) {
    const page = await open(pageUrl(name), { hash: "#/configuration?object=terraform_data.node[3]" });
    const object = page.locator(".object", { hasText: "[3]" }).first();
    const values = await object.getByRole("group", { name: "Values" }).textContent();
    assert.match(values, /name += "node-3-r1"/);
    assert.match(values, /password += \(sensitive value\)/);
    assert.ok(!(await page.content()).includes("planted"));
    assert.equal(await object.getByRole("link", { name: "replace" }).count(), isPlan ? 1 : 0);
    await object.getByRole("button").first().click();
    assert.equal(await page.getByRole("group", { name: "Values" }).count(), 0);
    assert.deepEqual(await violations(page), []);
    if (!isPlan) continue;
    await object.getByRole("link", { name: "replace" }).click();
    await page.locator(".change.is-open", { hasText: "terraform_data.node[3]" }).waitFor();
  }
});

for (const theme of ["light", "dark"]) {
  test(`axe finds nothing in what a reviewer sees, in ${theme}`, async () => {
    for (const hash of ["#/plan", "#/plan/outputs", "#/plan/checks", "#/configuration?object=terraform_data.script", "#/graph?of=operations", "#/apply"]) {
      const page = await open(pageUrl("reviewed"), { hash, theme, width: 400, motion: "reduce" });
      await page.waitForTimeout(400);
      assert.deepEqual(await violations(page), [], hash);
      await page.context().close();
    }
  });
}
