// The site of `make docs` in Chromium: accessible and not too wide in both themes, and the search answers newcomers.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { open, violations } from "../page/test/browser.mjs";

const SITE = fileURLToPath(new URL("../build/site", import.meta.url));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml" };
const PAGES = ["index", "quick-start", "tutorial", "guides/secrets", "concepts/states", "reference/cli/plan", "differences", "python/api/nigari.hcl"];

/** As `publish` in scripts/site.py writes them. */
const VERSIONS = [
  { version: "0.2", title: "0.2", aliases: ["latest"] },
  { version: "0.1", title: "0.1", aliases: [] },
];

/** What a newcomer types, and the page that answers it. */
const QUESTIONS = {
  "install": "install",
  "known after apply": "troubleshooting",
  "github actions": "guides/ci",
  "pull request comment": "guides/ci",
  "encrypt state": "guides/secrets",
  "sensitive": "guides/secrets",
  "s3 backend": "concepts/states",
  "state lock": "concepts/states",
  "force-unlock": "reference/cli/force-unlock",
  "drift": "guides/drift",
  "moved": "guides/refactoring",
  "import existing": "guides/import",
  "mock_provider": "guides/testing",
  "module source variable": "concepts/static-evaluation",
  "provider for_each": "concepts/provider-iteration",
  "environments": "concepts/environments",
  "terragrunt": "concepts/fleets",
  "migrate terraform": "migration/terraform",
  "saved plan variables": "guides/saved-plans",
  "proxy": "reference/network",
};

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://localhost").pathname;
  try {
    const data = path === "/versions.json" ? JSON.stringify(VERSIONS) : await readFile(join(SITE, path.replace("/latest", "")));
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(data);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
after(() => server.close());
const address = (page) => `http://127.0.0.1:${server.address().port}/latest/${page}.html`;

for (const theme of ["light", "dark"]) {
  for (const width of [1280, 400]) {
    test(`axe finds nothing, in ${theme} at ${width} pixels`, async () => {
      const found = [];
      for (const name of PAGES) {
        const page = await open(address(name), { width, theme, motion: "reduce" });
        await page.waitForTimeout(400);
        found.push(...(await violations(page)).map((each) => `${name}: ${each}`));
        await page.context().close();
      }
      assert.deepEqual(found, []);
    });
  }
}

test("the search answers the questions of newcomers", async () => {
  const missing = [];
  const page = await open(address("index"));
  await page.waitForTimeout(2000);
  await page.keyboard.press("Control+k");
  for (const [question, answer] of Object.entries(QUESTIONS)) {
    await page.keyboard.press("Control+a");
    await page.keyboard.type(question);
    // The results are in a shadow tree, and each of them repeats the words.
    const words = `h=${encodeURIComponent(question).replaceAll("%20", "+")}`;
    const results = page.locator(`a[href*="${words}"]`);
    await results.first().waitFor({ timeout: 5000 }).catch(() => undefined);
    await page.waitForTimeout(1000);
    const found = (await results.evaluateAll((links) => links.map((each) => each.href))).slice(0, 10);
    if (!found.some((link) => link.includes(`/${answer}.html`))) missing.push([question, ...found]);
  }
  assert.deepEqual(missing, []);
});

test("a selector leads to the other versions", async () => {
  const page = await open(address("install"));
  const links = page.locator(".md-version a");
  await links.first().waitFor({ state: "attached", timeout: 5000 });
  assert.deepEqual(await links.evaluateAll((found) => found.map((each) => new URL(each.href).pathname)), ["/0.2/", "/0.1/"]);
});
