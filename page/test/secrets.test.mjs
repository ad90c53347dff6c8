// A planted secret is nowhere: not in the file, not in the document, not in any view.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { open, pageUrl } from "./browser.mjs";

const SECRET = "planted";

for (const [name, known] of [
  ["applied", "terraform_data.policy"],
  ["outside", "files_text.secret"],
]) {
  test(`a planted secret is not in the file ${name}`, () => {
    const html = readFileSync(fileURLToPath(pageUrl(name)), "utf8");
    assert.ok(!html.includes(SECRET));
    const packed = /id="document">([^<]*)</.exec(html)[1];
    const document = gunzipSync(Buffer.from(packed, "base64")).toString();
    assert.ok(document.includes(known));
    assert.ok(!document.includes(SECRET));
  });
}

test("a planted secret is in no view, and nothing is asked for", async () => {
  const page = await open(pageUrl("applied"));
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const views = ["plan?change=terraform_data.release%5B0%5D", "plan/outputs", "plan/checks", "apply", "graph", "graph?of=operations", "source/main.tf", "source/terraform.tfvars", "configuration", "configuration?value=var.password", "configuration?value=local.secret"];
  for (const view of views) {
    await page.evaluate((hash) => (location.hash = hash), `#/${view}`);
    await page.waitForTimeout(100);
    assert.ok(!(await page.content()).includes(SECRET), view);
  }
  assert.deepEqual(asked.filter((each) => !each.startsWith("blob:")), []);
});
