// Builds the page into the package: one script with the layout worker in it, and one style sheet.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const common = { bundle: true, minify: true, target: "es2022", legalComments: "none", charset: "utf8" };

const worker = await build({
  ...common,
  entryPoints: [here("src/layout.worker.ts")],
  format: "iife",
  write: false,
});
await build({
  ...common,
  entryPoints: [here("src/page.ts"), here("src/page.css")],
  outdir: here("../src/nigari/explore/static"),
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { LAYOUT_WORKER: JSON.stringify(worker.outputFiles[0].text) },
  banner: { js: "/* Built from page/ by make page. Preact (MIT), d3-dag (MIT). */" },
});
