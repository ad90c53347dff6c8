// Runs nigari in directories of its own, as someone at a terminal does.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const words = process.env.NIGARI.split(" ");

/** A copy of a directory that the tests were given, in which something can be applied. */
export function copied(name) {
  const made = mkdtempSync(join(tmpdir(), `${name}-`));
  cpSync(join(process.env.PAGES, "made", name), made, { recursive: true });
  return made;
}

/** A process, with all that it has said, and the address of a page once it has said one. */
export function start(cwd, ...args) {
  const child = spawn(words[0], [...words.slice(1), ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  child.text = "";
  child.address = new Promise((done) => {
    const hear = (data) => {
      child.text += data;
      const found = /http:\S+/.exec(child.text);
      if (found) done(found[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
  });
  return child;
}

/** The exit status of a process, once it has one. */
export async function ended(child) {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}
