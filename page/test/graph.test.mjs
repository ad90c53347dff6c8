// Someone looks at what depends on what, in a small configuration and in one of five thousand blocks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { best, open, pageUrl } from "./browser.mjs";

test("the graph of five thousand blocks can be used within 3 s", async () => {
  const took = await best(5, async () => {
    const page = await open(pageUrl("blocks"), { hash: "#/graph" });
    await page.locator(".node").first().waitFor();
    const time = await page.evaluate(() => performance.now());
    await page.context().close();
    return time;
  });
  console.log(`# usable after ${Math.round(took)} ms`);
  assert.ok(took <= 3000, `${took} ms`);
});

test("a group opens, and a node shows its neighbours", async () => {
  const page = await open(pageUrl("blocks"), { hash: "#/graph" });
  await page.getByRole("searchbox", { name: "Go to a node" }).fill("terraform_data.r4005");
  await page.getByRole("button", { name: "terraform_data.r4005", exact: true }).click();
  await page.getByRole("button", { name: "resource terraform_data.r4004" }).waitFor();
  await page.getByRole("button", { name: "resource terraform_data.r4006" }).waitFor();
  assert.equal(await page.locator(".node").count(), 3);
  await page.getByRole("combobox", { name: "Neighbours" }).selectOption("2");
  await page.getByRole("button", { name: "resource terraform_data.r4007" }).waitFor();
});

/** How many pixels of a painting are not empty. */
const painted = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas.painting");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 3; at < data.length; at += 4) if (data[at]) found++;
    return found;
  });
const OPENED = "#/graph?open=%20resource%20terraform_data";

test("thousands of nodes are painted, and are nodes to be used once one is near", async () => {
  const page = await open(pageUrl("blocks"), { hash: "#/graph" });
  await page.getByRole("button", { name: /^Open terraform_data, 5,000 nodes/ }).click();
  await page.getByRole("group", { name: /^Graph of 5,000 nodes.* go to one by its name/ }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".drawing"));
  assert.ok((await painted(page)) > 5000);
  assert.equal(await page.locator(".node").count(), 0);
  await page.locator("svg.graph").focus();
  for (let at = 0; at < 24; at++) await page.keyboard.press("+");
  await page.locator(".node").first().waitFor();
  assert.ok((await page.locator(".node").count()) <= 300);
});

test("five thousand blocks that are all connected can be used within 3 s, without freezing", async () => {
  const took = await best(5, async () => {
    const page = await open(pageUrl("woven"), { hash: OPENED });
    await page.waitForFunction(() => document.querySelector("svg.graph > g"));
    const time = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(performance.now()))));
    assert.ok((await painted(page)) > 10000);
    await page.context().close();
    return time;
  });
  console.log(`# usable after ${Math.round(took)} ms`);
  assert.ok(took <= 3000, `${took} ms`);
  const longest = await best(5, async () => {
    const page = await open(pageUrl("woven"), { hash: "#/source" });
    await page.evaluate(() => {
      window.longest = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((each) => (window.longest = Math.max(window.longest, each.duration)))).observe({ type: "longtask" });
    });
    await page.evaluate((hash) => (location.hash = hash), OPENED);
    await page.waitForFunction(() => document.querySelector("svg.graph > g"));
    await page.locator("svg.graph").focus();
    for (const key of ["+", "+", "ArrowRight", "ArrowDown", "+", "+", "+", "0", "-"]) {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    const found = await page.evaluate(() => window.longest);
    await page.context().close();
    return found;
  });
  console.log(`# the longest task took ${Math.round(longest)} ms`);
  assert.ok(longest <= 200, `${longest} ms`);
});

test("a node among thousands is found by pointing at it, and by its name", async () => {
  const page = await open(pageUrl("woven"), { hash: OPENED });
  await page.waitForFunction(() => document.querySelector("svg.graph > g"));
  const box = await page.locator("svg.graph").boundingBox();
  // Somewhere across the middle there is one.
  const middle = box.y + box.height / 2;
  for (let x = box.x + 20; x < box.x + box.width && !(await page.locator(".pointed").count()); x += 2) await page.mouse.move(x, middle + (x % 7));
  const name = await page.locator(".pointed").textContent();
  await page.mouse.down();
  await page.mouse.up();
  await page.getByRole("region", { name: name.trim() }).waitFor();
  await page.getByRole("searchbox", { name: "Go to a node" }).fill("terraform_data.r4321");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "terraform_data.r4321" }).waitFor();
  await page.getByRole("button", { name: "resource terraform_data.r4321" }).waitFor();
});

test("modules are folded until one is opened", async () => {
  const page = await open(pageUrl("modules"), { hash: "#/graph" });
  const group = page.getByRole("button", { name: /^Open module c17, / });
  await group.click();
  await page.getByRole("button", { name: "resource module.c17.terraform_data.a" }).waitFor();
});

test("a path leads from one node to another", async () => {
  const page = await open(pageUrl("small"), { hash: "#/graph?focus=module.app.terraform_data.server&to=module.net.terraform_data.vpc" });
  await page.locator(".node").first().waitFor();
  const names = await page.locator(".node title").allTextContents();
  assert.ok(names.includes("module.app.var.networks"), names.join());
  assert.ok(!names.includes("terraform_data.policy"), names.join());
});

test("a preview of -target dims everything else", async () => {
  const page = await open(pageUrl("small"), { hash: "#/graph?focus=module.net.terraform_data.subnet" });
  await page.getByRole("button", { name: "Preview -target" }).click();
  await page.getByText("nigari plan -target='module.net.terraform_data.subnet'").waitFor();
  await page.locator(".node").first().waitFor();
  const dim = await page.locator(".node.is-dim title").allTextContents();
  assert.ok(dim.includes("terraform_data.policy"), dim.join());
  assert.ok(!dim.includes("module.net.terraform_data.vpc"), dim.join());
});

test("operations are in their order", async () => {
  const page = await open(pageUrl("small"), { hash: "#/graph?of=operations" });
  const place = async (name) => (await page.getByRole("button", { name, exact: true }).boundingBox()).x;
  await page.locator(".node").first().waitFor();
  assert.ok((await place("delete terraform_data.release[0]")) < (await place("create terraform_data.release[0]")));
});

test("the picture moves and zooms with the keyboard", async () => {
  const page = await open(pageUrl("small"), { hash: "#/graph" });
  await page.locator(".node").first().waitFor();
  const view = () => page.locator("svg.graph > g").getAttribute("transform");
  const changes = (from) => page.waitForFunction((known) => document.querySelector("svg.graph > g").getAttribute("transform") !== known, from);
  await page.locator("svg.graph").focus();
  for (const key of ["ArrowRight", "ArrowUp", "+", "0"]) {
    const before = await view();
    await page.keyboard.press(key);
    await changes(before);
  }
});

test("a module has frames, with nothing but its own nodes in them", async () => {
  for (const of of ["blocks", "operations"]) {
    const page = await open(pageUrl("reviewed"), { hash: `#/graph?of=${of}` });
    await page.locator(".node").first().waitFor();
    const found = await page.evaluate(() => {
      const box = (each) => each.getBoundingClientRect();
      const nodes = [...document.querySelectorAll(".node")].map((each) => ({ name: each.getAttribute("aria-label").split(" ").slice(1).join(" "), at: box(each.querySelector(".node-box")) }));
      const isWithin = (one, other) => one.left >= other.left && one.right <= other.right && one.top >= other.top && one.bottom <= other.bottom;
      return [...document.querySelectorAll(".module-frame")].map((each) => ({
        module: each.dataset.module,
        nodes: nodes.filter((node) => isWithin(node.at, box(each.querySelector("rect")))).map((node) => node.name),
      }));
    });
    assert.ok(found.length > 1, of);
    for (const { module, nodes } of found) {
      assert.ok(nodes.length, module);
      for (const node of nodes) assert.ok(node.startsWith(`${module}.`), `${node} in ${module}`);
    }
    const framed = new Set(found.flatMap((each) => each.nodes));
    for (const node of await page.locator('.node[aria-label*="module."]').evaluateAll((all) => all.map((each) => each.getAttribute("aria-label").split(" ").slice(1).join(" ")))) assert.ok(framed.has(node), node);
  }
});
