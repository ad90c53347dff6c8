// Tests: files with their runs, what failed and where its values come from, and what no run has touched.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { ApplyEvent, CoverageItem } from "./document";
import { doc } from "./document";
import type { Events } from "./events";
import type { Route } from "./route";
import { href } from "./route";
import { Empty, count } from "./ui";
import { Virtual } from "./virtual";

interface TestRun {
  name: string;
  status: string;
  problems: ApplyEvent[];
}

interface TestFile {
  name: string;
  status: string;
  runs: TestRun[];
  problems: ApplyEvent[];
}

interface Suite {
  files: TestFile[];
  coverage?: ApplyEvent;
  end?: ApplyEvent;
}

function suiteOf(events: ApplyEvent[]): Suite {
  const suite: Suite = { files: [] };
  const fileOf = (name: string): TestFile => {
    let file = suite.files.find((each) => each.name === name);
    if (!file) suite.files.push((file = { name, status: "", runs: [], problems: [] }));
    return file;
  };
  const runOf = (file: TestFile, name: string): TestRun => {
    let run = file.runs.find((each) => each.name === name);
    if (!run) file.runs.push((run = { name, status: "", problems: [] }));
    return run;
  };
  for (const event of events) {
    if (event.type === "test_abstract") {
      for (const [name, runs] of Object.entries(event.files ?? {})) runs.forEach((run) => runOf(fileOf(name), run));
    } else if (event.type === "test_file") fileOf(event.file!).status = event.status!;
    else if (event.type === "test_run") runOf(fileOf(event.file!), event.run!).status = event.status!;
    else if (event.type === "diagnostic" && event.file) {
      const file = fileOf(event.file);
      (event.run ? runOf(file, event.run) : file).problems.push(event);
    } else if (event.type === "test_coverage") suite.coverage = event;
    else if (event.type === "end") suite.end = event;
  }
  return suite;
}

const ORDER = ["fail", "error", "", "skip", "pass"];

export function TestsView({ route, events }: { route: Route; events: Events }): VNode {
  const suite = useMemo(() => suiteOf(events.all), [events.all]);
  const runs = suite.files.flatMap((file) => file.runs);
  const tab = route.rest || "runs";
  const counts = (suite.coverage?.counts ?? {}) as unknown as Record<string, { covered: number; total: number }>;
  return (
    <div class="main">
      <header class="main-head plan-head">
        <h2 aria-live="polite">{suite.end?.text ?? (events.link === "following" ? "Testing" : "The tests have not finished")}</h2>
        <p class="totals">
          {["pass", "fail", "error", "skip"].map((status) => {
            const number = runs.filter((each) => each.status === status).length;
            return number > 0 ? (
              <span key={status} class={`total ${status === "pass" ? "mark-create" : status === "skip" ? "total-none" : "mark-delete"}`}>
                <b>{number}</b> {{ pass: "passed", fail: "failed", error: "errored", skip: "skipped" }[status]}
              </span>
            ) : null;
          })}
        </p>
        <nav class="subtabs" aria-label="Parts of the tests">
          <a href={href("tests")} aria-current={tab === "runs" ? "page" : undefined}>
            Runs <span class="count">{runs.length}</span>
          </a>
          {suite.coverage && (
            <a href={href("tests", "coverage")} aria-current={tab === "coverage" ? "page" : undefined}>
              Coverage
            </a>
          )}
        </nav>
      </header>
      {tab === "coverage" && suite.coverage ? <Coverage items={suite.coverage.items ?? []} counts={counts} /> : <Runs files={suite.files} />}
    </div>
  );
}

function Runs({ files }: { files: TestFile[] }): VNode {
  if (!files.length) return <Empty title="No tests have been reported yet" />;
  const sorted = [...files].sort((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status));
  return (
    <Virtual
      items={sorted}
      keyOf={(each) => each.name}
      estimate={(each) => 46 + 32 * each.runs.length}
      label="Test files"
      render={(file) => (
        <article>
          <h3 class="section test-file">
            <Status status={file.status} /> <FileLink where={file.name} />
          </h3>
          {file.problems.map((each, at) => (
            <Failure event={each} key={at} />
          ))}
          {file.runs.map((run) => (
            <div class="test-run" key={run.name}>
              <Status status={run.status} /> <span class="address">{run.name}</span>
              {run.problems.map((each, at) => (
                <Failure event={each} key={at} />
              ))}
            </div>
          ))}
        </article>
      )}
    />
  );
}

const Status = ({ status }: { status: string }): VNode => <span class={`status status-${status || "waiting"}`}>{status || "waiting"}</span>;

function FileLink({ where }: { where: string }): VNode {
  const [name, line] = where.split(":");
  const file = doc.files.find((each) => each.name === name);
  if (!file) return <span class="address">{where}</span>;
  let start = 0;
  for (let at = 1; at < Number(line ?? 1); at++) start = file.text.indexOf("\n", start) + 1;
  return (
    <a class="address source-link" href={href("source", name, line ? { at: `${start}-${start + 1}` } : {})}>
      {where}
    </a>
  );
}

function Failure({ event }: { event: ApplyEvent }): VNode {
  return (
    <div class="failure">
      <p>
        <b>{event.text}</b> {event.where && <FileLink where={event.where} />}
      </p>
      {event.detail && <p class="problem-detail">{event.detail}</p>}
      {event.code && <pre tabIndex={0}>{[event.code, ...(event.origins ?? [])].join("\n")}</pre>}
    </div>
  );
}

function Coverage({ items, counts }: { items: CoverageItem[]; counts: Record<string, { covered: number; total: number }> }): VNode {
  const sorted = [...items].sort((one, other) => Number(one.covered) - Number(other.covered));
  return (
    <>
      <div class="toolbar">
        {Object.entries(counts).map(([kind, { covered, total }]) => (
          <span key={kind} class="meter-with-text">
            <span class="muted">{count(total, kind)}</span>
            <meter value={covered} max={total} aria-label={`${kind}: ${covered} of ${total} covered`} />
            {covered} of {total}
          </span>
        ))}
      </div>
      <Virtual
        items={sorted}
        keyOf={(each) => `${each.module} ${each.name} ${each.where}`}
        estimate={() => 36}
        label="Coverage"
        render={(each) => (
          <div class="check">
            <span class={`status status-${each.covered ? "pass" : "fail"}`}>{each.covered ? "covered" : "missing"}</span>
            <span class="address">{each.name}</span>
            <FileLink where={each.where} />
            {each.missing && <span class="muted">{each.missing}</span>}
          </div>
        )}
      />
    </>
  );
}
