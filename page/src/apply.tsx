// An apply: what runs, what waits and for what, how long things took, live or afterwards.
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Run, Waiting, Work } from "./apply-run";
import { longestChain, runOf, waitedFor, waitingOf } from "./apply-run";
import type { Action } from "./document";
import { doc, isLive } from "./document";
import type { Events } from "./events";
import { isEarlier } from "./events";
import type { Route } from "./route";
import { change, href } from "./route";
import { duration } from "./times";
import { Empty, Icon, SYMBOLS, count } from "./ui";
import { Virtual } from "./virtual";

function useNow(isRunning: boolean): number {
  const [now, set] = useState(Date.now() / 1000);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => set(Date.now() / 1000), 250);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

function statusOf(run: Run, isRunning: boolean): string {
  if (run.message) return run.message;
  const what = run.mode === "destroy" ? "Destroy" : "Apply";
  const done = Object.entries(run.counts ?? {}).map(([word, number]) => `${number.toLocaleString("en")} ${word}`).join(", ");
  if (run.state === "done") return `${what} complete: ${done}`;
  if (run.state === "failed") return `${what} failed: ${done}`;
  if (run.state === "stopped") return `The ${what.toLowerCase()} was interrupted`;
  if (run.state === "idle") return "Waiting for the apply to begin";
  if (run.state === "next" && isLive) return "Waiting for the next round to begin";
  if (!isRunning) return `The ${what.toLowerCase()} has not finished`;
  if (run.state === "stopping") return "Stopping: nothing new is started";
  return run.mode === "destroy" ? "Destroying" : "Applying";
}

/** What has not ended before what has: that is what is followed. */
const runningFirst = (works: Work[]): Work[] => [...works.filter((each) => each.end === undefined), ...works.filter((each) => each.end !== undefined)];

interface Scale {
  start: number;
  until: number;
  now: number;
  isRunning: boolean;
}

type Row = { kind: "work"; id: string; work: Work } | { kind: "title"; id: string; title: string; number: number } | { kind: "wait"; id: string; wait: Waiting };

const keyOf = (work: Work): string => `${work.action} ${work.address}${work.deposed ? ` ${work.deposed}` : ""}`;

export function ApplyView({ route, events }: { route: Route; events: Events }): VNode {
  const { all, link } = events;
  const run = useMemo(() => runOf(all), [all]);
  const isRunning = link === "following" && (run.state === "running" || run.state === "stopping");
  const now = useNow(isRunning);
  const works = useMemo(() => run.works.filter((each) => each.action !== "refresh"), [run]);
  const waiting = useMemo(() => (run.state === "done" ? [] : waitingOf(run)), [run]);
  const isChain = route.options.get("show") === "chain";
  const shown = useMemo(() => (isChain ? longestChain(works) : runningFirst(works)), [run, works, isChain]);
  if (run.state === "idle" && !waiting.length && !run.problems.length && !doc.applies) {
    return (
      <div class="main apply">
        <Empty title="Nothing has been applied yet">{isLive ? "Run nigari apply in this directory: it is shown here while it goes on." : undefined}</Empty>
      </div>
    );
  }
  const start = works[0]?.start ?? run.start ?? now;
  const last = works.reduce((latest, each) => Math.max(latest, each.end ?? each.start), start);
  const scale: Scale = { start, until: Math.max(isRunning ? now : last, start + 0.001), now, isRunning };
  const rows: Row[] = shown.map((work) => ({ kind: "work", id: work.id, work }));
  if (waiting.length && !isChain) {
    rows.push({ kind: "title", id: "waiting", title: run.end === undefined ? "Waiting" : "Not begun", number: waiting.length });
    waiting.forEach((wait) => rows.push({ kind: "wait", id: `wait ${wait.kind} ${wait.address}`, wait }));
  }
  const opened = route.options.get("work");
  return (
    <div class="main apply">
      <ApplyHead run={run} isEarlier={isEarlier(events)} works={works} waiting={waiting.length} scale={scale} link={link} />
      {works.length > 1 && (
        <div class="toolbar">
          <div class="segments" role="group" aria-label="Show">
            {([["", "everything"], ["chain", "longest chain"]] as const).map(([value, title]) => (
              <a key={value} href={href("apply", "", { show: value || undefined })} aria-current={(isChain ? "chain" : "") === value ? "true" : undefined}>
                {title}
              </a>
            ))}
          </div>
          {isChain && <span class="muted">Each waited for the one above it: together they decide how long it takes.</span>}
        </div>
      )}
      {run.problems.map((each, at) => (
        <article class="problem" key={at}>
          <h3>
            <span class={`status status-${each.severity === "error" ? "fail" : "unknown"}`}>{each.severity}</span> {each.text}
          </h3>
          {each.address && <p class="address muted">{each.address}</p>}
          <p class="problem-detail">{each.detail}</p>
        </article>
      ))}
      {shown.length > 0 && (
        <div class="axis" aria-hidden="true">
          <span class="axis-times">
            {[0, 0.25, 0.5, 0.75, 1].map((part) => (
              <span key={part}>{part ? duration((scale.until - scale.start) * part) : "0"}</span>
            ))}
          </span>
        </div>
      )}
      {rows.length ? (
        <Virtual
          items={rows}
          keyOf={(each) => each.id}
          estimate={() => 30}
          label="Timeline"
          class="timeline"
          reveal={opened ? works.find((each) => keyOf(each) === opened)?.id : undefined}
          render={(row) => <RowView row={row} run={run} scale={scale} isOpen={row.kind === "work" && keyOf(row.work) === opened} route={route} />}
        />
      ) : (
        <Empty title={run.state === "idle" ? "Nothing has happened yet" : "There was nothing to do"} />
      )}
    </div>
  );
}

function ApplyHead({ run, isEarlier, works, waiting, scale, link }: { run: Run; isEarlier: boolean; works: Work[]; waiting: number; scale: Scale; link: string }): VNode {
  const running = works.filter((each) => each.end === undefined).length;
  const failed = works.filter((each) => each.hasFailed).length;
  const done = works.length - running - failed;
  return (
    <header class="main-head">
      <h2 aria-live="polite">{statusOf(run, scale.isRunning)}</h2>
      {isEarlier && <p class="muted">This apply was before the plan of this page was made.</p>}
      <div class="progress" role="img" aria-label={`${done} done, ${running} running, ${failed} failed, ${waiting} waiting`}>
        <span class="progress-done" style={{ flexGrow: done }} />
        <span class="progress-failed" style={{ flexGrow: failed }} />
        <span class="progress-running" style={{ flexGrow: running }} />
        <span class="progress-waiting" style={{ flexGrow: waiting }} />
      </div>
      <p class="totals">
        <span class="total">
          <b>{done.toLocaleString("en")}</b> done
        </span>
        {(running > 0 || scale.isRunning) && (
          <span class="total">
            <b>{running}</b> {scale.isRunning ? "running" : "not finished"}
          </span>
        )}
        {failed > 0 && (
          <span class="total mark-delete">
            <b>{failed}</b> failed
          </span>
        )}
        {waiting > 0 && (
          <span class="total">
            <b>{waiting.toLocaleString("en")}</b> {run.end === undefined ? "waiting" : "not begun"}
          </span>
        )}
        {works.length > 0 && <span class="muted">{duration(scale.until - scale.start)}</span>}
        {works.length > 0 && !scale.isRunning && <span class="muted">{new Date(scale.start * 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" })}</span>}
        {link === "lost" && run.end === undefined && <span class="tag tag-warn">no longer followed</span>}
      </p>
    </header>
  );
}

function RowView({ row, run, scale, isOpen, route }: { row: Row; run: Run; scale: Scale; isOpen: boolean; route: Route }): VNode {
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
        <span class="work-name address" title={wait.address}>
          {wait.address}
        </span>
        <span class="muted work-note">{wait.on.length ? `${wait.kind}, after ${wait.on.slice(0, 3).join(", ")}${wait.on.length > 3 ? ` and ${wait.on.length - 3} more` : ""}` : wait.kind}</span>
      </div>
    );
  }
  return <WorkRow work={row.work} run={run} scale={scale} isOpen={isOpen} route={route} />;
}

function WorkRow({ work, run, scale, isOpen, route }: { work: Work; run: Run; scale: Scale; isOpen: boolean; route: Route }): VNode {
  const { start, until, now, isRunning } = scale;
  const end = work.end ?? (isRunning ? now : until);
  const whole = until - start;
  const state = work.hasFailed ? "failed" : work.end !== undefined ? "done" : isRunning ? "running" : "stopped";
  const words = { failed: "failed after", done: "took", running: "running for", stopped: "was still running after" }[state];
  return (
    <article class={`work-item ${isOpen ? "is-open" : ""}`}>
      <button class={`work is-${state}`} aria-expanded={isOpen} onClick={() => change(route, { work: isOpen ? undefined : keyOf(work) })}>
        <span class="work-name address" title={work.address}>
          <span class={`work-mark mark-${work.action === "refresh" ? "read" : work.action}`} aria-hidden="true">
            {SYMBOLS[work.action as Action] ?? "≤"}
          </span>
          <span>
            {" "}
            {work.address}
            {work.deposed && <span class="muted"> deposed</span>}
          </span>
        </span>
        <span class="work-bar" aria-hidden="true">
          <span class={`bar bar-${work.action} bar-${state}`} style={{ left: `${((work.start - start) / whole) * 100}%`, width: `${Math.max(0.3, ((end - work.start) / whole) * 100)}%` }} />
        </span>
        <span class="work-note">
          <span class="hidden-text">
            {work.action} {words}{" "}
          </span>
          {duration(end - work.start)}
        </span>
      </button>
      {isOpen && <WorkDetail work={work} run={run} start={start} />}
    </article>
  );
}

const MOST_NAMED = 20;

function WorkDetail({ work, run, start }: { work: Work; run: Run; start: number }): VNode {
  const waited = waitedFor(run, work);
  const after = work.operation === undefined ? [] : work.order.after(work.operation).map((each) => work.order.operations[each]);
  const isPlanned = doc.plan?.changes.some((each) => each.address === work.address);
  return (
    <div class="change-detail work-detail">
      <dl class="facts">
        <div>
          <dt>Action</dt>
          <dd>{work.action}</dd>
        </div>
        <div>
          <dt>Began</dt>
          <dd>
            {new Date(work.start * 1000).toLocaleTimeString("en", { hour12: false })}, {duration(work.start - start)} after the first
          </dd>
        </div>
        <div>
          <dt>Waited for</dt>
          <dd>
            {waited.length ? (
              <ul class="plain-list">
                {waited.slice(0, MOST_NAMED).map((each) => (
                  <li key={each.id}>
                    <a class="address" href={href("apply", "", { work: keyOf(each) })}>
                      {each.address}
                    </a>{" "}
                    <span class="muted">
                      {each.action}, {duration(each.end! - each.start)}
                      {each === waited[0] && waited.length > 1 ? ", the last to end" : ""}
                    </span>
                  </li>
                ))}
                {waited.length > MOST_NAMED && <li class="muted">and {count(waited.length - MOST_NAMED, "other")}</li>}
              </ul>
            ) : (
              <span class="muted">nothing</span>
            )}
          </dd>
        </div>
        <div>
          <dt>Needed by</dt>
          <dd>
            {after.length ? (
              <span class="address">
                {after.slice(0, MOST_NAMED).map((each) => each.address).join(", ")}
                {after.length > MOST_NAMED && <span class="muted"> and {count(after.length - MOST_NAMED, "other")}</span>}
              </span>
            ) : (
              <span class="muted">nothing</span>
            )}
          </dd>
        </div>
      </dl>
      <p class="work-links">
        {isPlanned && (
          <a href={href("plan", "", { change: work.address })}>
            <Icon name="right" /> What changes
          </a>
        )}
        {doc.operations && (
          <a href={href("graph", "", { of: "operations", focus: work.address })}>
            <Icon name="right" /> In the graph
          </a>
        )}
      </p>
      {work.lines.length > 0 && (
        <pre class="output-text" tabIndex={0} aria-label={`${count(work.lines.length, "line")} of output`}>
          {work.lines.join("\n")}
        </pre>
      )}
    </div>
  );
}
