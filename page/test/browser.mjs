// Opens pages in the machine's Chromium, and complains about whatever the browser complains about.
import assert from "node:assert/strict";
import { accessSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, afterEach } from "node:test";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

function program() {
  for (const folder of process.env.PATH.split(delimiter)) {
    for (const name of NAMES) {
      try {
        accessSync(join(folder, name));
        return join(folder, name);
      } catch {
        // Not there; perhaps in the next one.
      }
    }
  }
  throw new Error("There is no Chromium on the PATH.");
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? program(), args: ["--no-sandbox"] });
const complaints = [];
after(() => browser.close());
afterEach(() => assert.deepEqual(complaints.splice(0), []));

/** The address of a page that the tests were given. */
export const pageUrl = (name) => pathToFileURL(join(process.env.PAGES, `${name}.html`)).href;

export async function open(url, { hash = "", width = 1280, theme = "light", motion = "no-preference" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme, reducedMotion: motion });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url + hash);
  await page.waitForSelector("main");
  return page;
}

/** The best of several tries: a busy machine makes things slower, never faster. */
export async function best(tries, measure) {
  let found = Infinity;
  for (let at = 0; at < tries; at++) found = Math.min(found, await measure());
  return found;
}

/** Milliseconds from something done in the page until a frame has been drawn in which a condition holds. */
export function timed(page, act, until) {
  return page.evaluate(
    async ([act, until]) => {
      const done = new Function(`return ${until}`);
      const start = performance.now();
      new Function(act)();
      while (!done()) await new Promise((next) => requestAnimationFrame(next));
      await new Promise((next) => requestAnimationFrame(next));
      return performance.now() - start;
    },
    [act, until],
  );
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with what is shown, and whether it is too wide. */
export async function violations(page) {
  // The page's own policy does not let a test add scripts; the debugger may.
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return [
    ...found.violations.map((each) => `${each.id}: ${each.nodes[0].target} ${each.nodes[0].failureSummary}`),
    ...(overflow > 0 ? [`${overflow} pixels too wide`] : []),
  ];
}
