// Takes pictures of pages for the documents: node pictures.mjs BROWSER PAGES PICTURES
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , program, pages, pictures] = process.argv;
const VIEWS = [
  ["plan", "applied", "#/plan?change=terraform_data.release%5B0%5D", "light"],
  ["apply", "timed", "#/apply?work=create%20terraform_data.service", "dark"],
  ["configuration", "applied", "#/configuration/root?value=module.app.var.prefix", "light"],
  ["graph", "applied", "#/graph?target=module.app.terraform_data.server", "dark"],
  ["source", "applied", "#/source/net%2Fmain.tf", "light", "Values of var.name"],
  ["tests", "tested", "#/tests", "light"],
  ["fleet", "fleet", '#/fleet?unit=app["prod"]', "dark"],
];
const NARROW = [["narrow", "applied", "#/plan?change=terraform_data.policy", "dark"]];

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
for (const [width, views] of [
  [1280, VIEWS],
  [400, NARROW],
]) {
  for (const [name, file, hash, theme, click] of views) {
    const page = await browser.newPage({ viewport: { width, height: 760 }, colorScheme: theme, reducedMotion: "reduce" });
    await page.goto(pathToFileURL(join(pages, `${file}.html`)).href + hash);
    await page.waitForSelector("main");
    if (click) await page.getByRole("button", { name: click }).first().click();
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(pictures, `explore-${name}.png`) });
    await page.close();
  }
}
await browser.close();
