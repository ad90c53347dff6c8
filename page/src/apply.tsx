// An apply: what runs, what waits and for what, how long things took, live or afterwards.
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Action, ApplyEvent } from "./document";
import { doc, isLive } from "./document";
import type { Events } from "./events";
import type { Route } from "./route";
import { href } from "./route";
import { Empty, SYMBOLS, count } from "./ui";
import { Virtual } from "./virtual";

interface Work {
  id: string;
  address: string;
  action: string;
  start: number;
  end?: number;
  hasFailed?: boolean;
  lines: string[];
}

interface Run {
  works: Work[];
  problems: ApplyEvent[];
  start?: number;
  end?: number;
  message?: string;
}

export function runOf(events: ApplyEvent[]): Run {
  const run: Run = { works: [], problems: [] };
  const open = new Map<string, Work>();
  const latest = new Map<string, Work>();
  for (const event of events) {
    const address = event.address ?? "";
    const key = `${address} ${event.action ?? event.provisioner ?? "refresh"}`;
    run.start ??= event.at;
    if (event.type === "apply_start" || event.type === "refresh_start") {
      const action = event.type === "refresh_start" ? "refresh" : event.action!;
      const work: Work = { id: `${run.works.length}`, address, action, start: event.at, lines: [] };
      run.works.push(work);
      open.set(key, work);
      latest.set(address, work);
    } else if (["apply_complete", "apply_errored", "refresh_complete"].includes(event.type)) {
      const work = open.get(key);
      if (work) {
        work.end = event.at;
        work.hasFailed = event.type === "apply_errored";
        open.delete(key);
      }
    } else if (event.type === "provision_progress") {
      latest.get(address)?.lines.push(event.text ?? "");
    } else if (event.type === "diagnostic") {
      run.problems.push(event);
    } else if (event.type === "end") {
      run.end = event.at;
      run.message = event.text;
    }
  }
  return run;
}

function useNow(isRunning: boolean): number {
  const [now, set] = useState(Date.now() / 1000);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => set(Date.now() / 1000), 250);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

interface Waiting {
  address: string;
  kind: string;
  on: string[];
}

const WORKING = new Set(["create", "update", "delete", "read"]);

/** The operations of the plan that have not begun, with what they wait for. */
function waitingOf(run: Run): Waiting[] {
  const operations = doc.operations ?? [];
  const done = new Set(run.works.filter((each) => each.end !== undefined && !each.hasFailed).map((each) => `${each.action} ${each.address}`));
  const begun = new Set(run.works.map((each) => `${each.action} ${each.address}`));
  const isDone = new Map<number, boolean>();
  const before = (at: number): number[] => {
    // What neither begins nor ends by itself stands for what comes before it.
    const found = new Set<number>();
    const seen = new Set<number>();
    const pending = [...operations[at].needs];
    while (pending.length) {
      const each = pending.pop()!;
      if (seen.has(each)) continue;
      seen.add(each);
      if (WORKING.has(operations[each].kind)) found.add(each);
      else pending.push(...operations[each].needs);
    }
    return [...found];
  };
  const done_ = (at: number) => {
    let known = isDone.get(at);
    if (known === undefined) {
      known = done.has(`${operations[at].kind} ${operations[at].address}`);
      isDone.set(at, known);
    }
    return known;
  };
  const found: Waiting[] = [];
  operations.forEach((each, at) => {
    if (!WORKING.has(each.kind) || begun.has(`${each.kind} ${each.address}`)) return;
    const on = found.length < 500 ? before(at).filter((one) => !done_(one)) : [];
    found.push({ address: each.address, kind: each.kind, on: on.map((one) => operations[one].address) });
  });
  return found;
}

type Row = { kind: "work"; id: string; work: Work } | { kind: "title"; id: string; title: string; number: number } | { kind: "wait"; id: string; wait: Waiting };

export function ApplyView({ route, events }: { route: Route; events: Events }): VNode {
  const { all, link } = events;
  const run = useMemo(() => runOf(all), [all]);
  const isRunning = link === "following" && run.end === undefined;
  const now = useNow(isRunning);
  const shown = route.options.get("show") ?? "apply";
  const works = run.works.filter((each) => (shown === "all" ? true : each.action !== "refresh"));
  const waiting = useMemo(() => (run.end === undefined ? waitingOf(run) : []), [run]);
  const start = works[0]?.start ?? run.start ?? now;
  const last = Math.max(start, ...works.map((each) => each.end ?? each.start));
  const until = Math.max(isRunning ? now : (run.end ?? last), start + 0.001);
  const rows: Row[] = [];
  works.forEach((work) => rows.push({ kind: "work", id: work.id, work }));
  if (waiting.length) {
    rows.push({ kind: "title", id: "waiting", title: "Waiting", number: waiting.length });
    waiting.forEach((wait) => rows.push({ kind: "wait", id: `wait ${wait.kind} ${wait.address}`, wait }));
  }
  const running = works.filter((each) => each.end === undefined);
  const failed = works.filter((each) => each.hasFailed);
  const done = works.length - running.length - failed.length;
  const status = run.message ?? (isRunning ? (works.length ? "Applying" : "Waiting for the apply to begin") : link === "lost" ? "The command has ended" : "The apply has not finished");
  return (
    <div class="main apply">
      <header class="main-head">
        <h2 aria-live="polite">{status}</h2>
        <div class="progress" role="img" aria-label={`${done} done, ${running.length} running, ${failed.length} failed, ${waiting.length} waiting`}>
          <span class="progress-done" style={{ flexGrow: done }} />
          <span class="progress-failed" style={{ flexGrow: failed.length }} />
          <span class="progress-running" style={{ flexGrow: running.length }} />
          <span class="progress-waiting" style={{ flexGrow: waiting.length }} />
        </div>
        <p class="totals">
          <span class="total">
            <b>{done.toLocaleString("en")}</b> done
          </span>
          <span class="total">
            <b>{running.length}</b> running
          </span>
          {failed.length > 0 && (
            <span class="total mark-delete">
              <b>{failed.length}</b> failed
            </span>
          )}
          {waiting.length > 0 && (
            <span class="total">
              <b>{waiting.length.toLocaleString("en")}</b> waiting
            </span>
          )}
          <span class="muted">{duration(until - start)}</span>
          {link === "lost" && run.end === undefined && <span class="tag tag-warn">no longer followed</span>}
        </p>
      </header>
      {run.problems.map((each, at) => (
        <article class="problem" key={at}>
          <h3>
            <span class={`status status-${each.severity === "error" ? "fail" : "unknown"}`}>{each.severity}</span> {each.text}
          </h3>
          <p class="problem-detail">{each.detail}</p>
        </article>
      ))}
      {rows.length ? (
        <Virtual items={rows} keyOf={(each) => each.id} estimate={() => 30} label="Timeline" class="timeline" render={(row) => <RowView row={row} start={start} until={until} now={now} isRunning={isRunning} />} />
      ) : (
        <Empty title="Nothing has happened yet">{isLive ? "Start the apply with -json-into and the file that is followed here." : undefined}</Empty>
      )}
    </div>
  );
}

function RowView({ row, start, until, now, isRunning }: { row: Row; start: number; until: number; now: number; isRunning: boolean }): VNode {
  if (row.kind === "title") {
    return (
      <h3 class="section">
        {row.title} <span class="count">{row.number.toLocaleString("en")}</span>
      </h3>
    );
  }
  if (row.kind === "wait") {
    const { wait } = row;
    return (
      <div class="work waiting">
        <span class={`work-name address`}>{wait.address}</span>
        <span class="muted work-note">{wait.on.length ? `${wait.kind}, after ${wait.on.slice(0, 3).join(", ")}${wait.on.length > 3 ? ` and ${wait.on.length - 3} more` : ""}` : wait.kind}</span>
      </div>
    );
  }
  const { work } = row;
  const end = work.end ?? (isRunning ? now : until);
  const whole = until - start;
  const state = work.hasFailed ? "failed" : work.end !== undefined ? "done" : isRunning ? "running" : "stopped";
  const words = { failed: "failed after", done: "took", running: "running for", stopped: "was still running after" }[state];
  return (
    <div class={`work is-${state}`}>
      <a class="work-name address" href={doc.plan ? href("plan", "", { change: work.address }) : href("graph", "", { focus: work.address })} title={work.address}>
        <span class={`work-mark mark-${work.action === "refresh" ? "read" : work.action}`} aria-hidden="true">
          {SYMBOLS[work.action as Action] ?? "≤"}
        </span>{" "}
        {work.address}
      </a>
      <span class="work-bar" aria-hidden="true">
        <span class={`bar bar-${work.action} bar-${state}`} style={{ left: `${((work.start - start) / whole) * 100}%`, width: `${Math.max(0.3, ((end - work.start) / whole) * 100)}%` }} />
      </span>
      <span class="work-note">
        <span class="hidden-text">
          {work.action} {words}{" "}
        </span>
        {duration(end - work.start)}
      </span>
      {work.lines.length > 0 && <Output lines={work.lines} />}
    </div>
  );
}

function Output({ lines }: { lines: string[] }): VNode {
  const box = useRef<HTMLDetailsElement>(null);
  return (
    <details class="output" ref={box}>
      <summary>{count(lines.length, "line")} of output</summary>
      <pre tabIndex={0}>{lines.join("\n")}</pre>
    </details>
  );
}

function duration(seconds: number): string {
  if (seconds < 0.95) return `${Math.round(Math.max(0, seconds) * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.round(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
