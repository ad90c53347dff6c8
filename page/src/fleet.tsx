// A fleet: its units, what they need and why, how their last applies went, and how far one is.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { FleetUnit, UnitApplied, UnitChanges } from "./document";
import { doc } from "./document";
import type { Events } from "./events";
import type { Known, State } from "./fleet-run";
import { STATES, knownOf, stateOf } from "./fleet-run";
import type { Route } from "./route";
import { change, href } from "./route";
import { duration } from "./times";
import { Empty, Icon, count } from "./ui";
import { Virtual } from "./virtual";

type States = Map<string, State | "">;

export function FleetView({ route, events }: { route: Route; events: Events }): VNode {
  const fleet = doc.fleet!;
  const known = useMemo(() => knownOf(events.all), [events.all]);
  const wanted = (route.options.get("q") ?? "").toLowerCase();
  const open = route.options.get("unit") ?? "";
  const only = route.options.get("state") ?? "";
  const states = useMemo(() => new Map(fleet.units.map((each) => [each.name, stateOf(each.name, known)])), [known]);
  const present = (Object.keys(STATES) as State[]).map((each): [State, number] => [each, [...states.values()].filter((one) => one === each).length]).filter(([, number]) => number);
  const units = useMemo(
    () => fleet.units.filter((each) => (!only || states.get(each.name) === only) && `${each.name} ${each.directory} ${each.labels.join(" ")}`.toLowerCase().includes(wanted)),
    [wanted, only, states],
  );
  return (
    <div class="main">
      <header class="main-head">
        <h2>Fleet</h2>
        <p class="totals">
          <span>{count(fleet.units.length, "unit")}</span>
          <span>{count(fleet.edges.length, "dependency", "dependencies")}</span>
          <span>{count(fleet.layers.length, "layer")}</span>
          {fleet.cycles.length > 0 && <span class="mark-delete">{count(fleet.cycles.length, "cycle")}</span>}
          <Doing known={known} />
        </p>
      </header>
      <div class="toolbar">
        <label class="filter">
          <Icon name="search" />
          <input type="search" placeholder="Filter units" aria-label="Filter units" value={route.options.get("q") ?? ""} onInput={(event) => change(route, { q: event.currentTarget.value })} />
        </label>
        {present.length > 0 && (
          <div class="chips" role="group" aria-label="States">
            {present.map(([state, number]) => (
              <button key={state} class="chip" aria-pressed={only === state} onClick={() => change(route, { state: only === state ? undefined : state })}>
                {STATES[state][1]} <span class="count">{number}</span>
              </button>
            ))}
          </div>
        )}
        <a href={href("graph", "", { of: "units" })}>Graph of the units</a>
        <span class="muted" role="status">
          {count(units.length, "unit")}
        </span>
      </div>
      {units.length ? (
        <Virtual
          items={units}
          keyOf={(each) => each.name}
          estimate={() => 36}
          label="Units"
          reveal={open || undefined}
          render={(unit) => <Unit unit={unit} known={known} state={states.get(unit.name)!} states={states} isOpen={unit.name === open} onClick={() => change(route, { unit: unit.name === open ? undefined : unit.name })} />}
        />
      ) : (
        <Empty title="No unit matches" />
      )}
    </div>
  );
}

/** What is being done with the fleet, or is left to be done. */
function Doing({ known: { run, unfinished } }: { known: Known }): VNode | null {
  if (run?.goesOn) {
    const over = [...run.units.values()].filter((each) => !["waiting", "planning", "applying"].includes(each.state)).length;
    return (
      <span class="tag tag-live" role="status">
        <span class="live-dot" aria-hidden="true" />
        {run.phase === "plan" ? "planning" : "applying"}: {over} of {count(run.units.size, "unit")}
      </span>
    );
  }
  if (!unfinished) return null;
  return (
    <span class="tag tag-warn">
      an apply has not finished: {unfinished.done} of {count(unfinished.units, "unit")} applied
    </span>
  );
}

/** What there is to say of a unit in a few words: what it waits for, or when it was applied. */
function note(unit: FleetUnit, state: State | "", states: States, known: Known): string {
  const last = known.applied[unit.name];
  const told = known.run?.units.get(unit.name);
  if (state === "waiting") {
    const on = unit.needs.filter((each) => ["waiting", "planning", "applying", "failed", "interrupted"].includes(states.get(each) ?? ""));
    return on.length ? `after ${on.join(", ")}` : "";
  }
  if (state === "applying" && last?.state === "running") return `${last.done} done, ${last.running} running`;
  if (state === "planned" && told?.changes) return planned(told.changes);
  if (state === "skipped" && told?.because) return `because ${told.because} failed`;
  return unit.needs.length ? `needs ${unit.needs.join(", ")}` : "";
}

/** How much a plan does, in the words that plans end with. */
function planned(changes: UnitChanges): string {
  const parts = [
    changes.import && `${changes.import} to import`,
    changes.add && `${changes.add} to add`,
    changes.change && `${changes.change} to change`,
    changes.destroy && `${changes.destroy} to destroy`,
    changes.forget && `${changes.forget} to forget`,
    changes.outputs && `${count(changes.outputs, "output")} to change`,
    changes.drift && `${count(changes.drift, "object")} changed outside`,
  ];
  return parts.filter(Boolean).join(", ");
}

function Unit({ unit, known, state, states, isOpen, onClick }: { unit: FleetUnit; known: Known; state: State | ""; states: States; isOpen: boolean; onClick: () => void }): VNode {
  return (
    <article class={`change ${isOpen ? "is-open" : ""}`}>
      <button class="change-row" aria-expanded={isOpen} onClick={onClick}>
        <span class={`twist ${isOpen ? "is-open" : ""}`}>
          <Icon name="right" />
        </span>
        <span class="address change-name">{unit.name}</span>
        {unit.labels.map((each) => (
          <span class="tag" key={each}>
            {each}
          </span>
        ))}
        {state && <span class={`status status-${STATES[state][0]}`}>{STATES[state][1]}</span>}
        {unit.problems.length > 0 && <span class="tag tag-warn">{count(unit.problems.length, "problem")}</span>}
        <span class="change-why muted">{note(unit, state, states, known)}</span>
      </button>
      {isOpen && <UnitDetail unit={unit} known={known} />}
    </article>
  );
}

const EDGES: Record<string, string> = {
  "remote state": "because it reads its state with",
  outputs: "because it is given its outputs in",
  depends_on: "because of depends_on in",
};
const OUTCOMES: Record<UnitApplied["state"], string> = { running: "running", done: "nothing changed", failed: "failed", stopped: "interrupted" };

function lastApply(last: UnitApplied): string {
  const what = Object.entries(last.counts ?? {})
    .filter(([, number]) => number)
    .map(([word, number]) => `${number} ${word}`)
    .join(", ");
  const when = new Date(last.start * 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  const outcome = last.state === "done" ? what || OUTCOMES.done : [OUTCOMES[last.state], what].filter(Boolean).join(", ");
  return `${when}, ${duration(last.end - last.start)}: ${outcome}`;
}

function UnitDetail({ unit, known }: { unit: FleetUnit; known: Known }): VNode {
  const last = known.applied[unit.name];
  const told = known.run?.units.get(unit.name);
  const edges = doc.fleet!.edges.filter((each) => each.unit === unit.name);
  return (
    <div class="change-detail">
      <dl class="facts unit-facts">
        <div>
          <dt>Directory</dt>
          <dd class="address">{unit.directory}</dd>
        </div>
        {unit.workspace && (
          <div>
            <dt>Workspace</dt>
            <dd>{unit.workspace}</dd>
          </div>
        )}
        {unit.state && (
          <div>
            <dt>State</dt>
            <dd class="address">{unit.state}</dd>
          </div>
        )}
        {last && (
          <div>
            <dt>Last apply</dt>
            <dd>{lastApply(last)}</dd>
          </div>
        )}
        {told?.changes && known.run!.phase === "plan" && (
          <div>
            <dt>Last plan</dt>
            <dd>{planned(told.changes) || "no changes"}</dd>
          </div>
        )}
        {told?.log && (
          <div>
            <dt>Log</dt>
            <dd class="address">{told.log}</dd>
          </div>
        )}
        <div>
          <dt>Graph</dt>
          <dd>
            <a href={href("graph", "", { of: "units", focus: unit.name })}>what it needs and what needs it</a>
          </dd>
        </div>
      </dl>
      {edges.length > 0 && (
        <ul class="plain-list">
          {edges.map((each, at) => (
            <li key={at}>
              Needs <a href={href("fleet", "", { unit: each.needs })}>{each.needs}</a> <span class="muted">{EDGES[each.reason] ?? each.reason}</span>{" "}
              {each.reason === "remote state" && <span class="address">{each.address}</span>} <span class="muted">{each.at}</span>
            </li>
          ))}
        </ul>
      )}
      {unit.needed_by.length > 0 && <p class="muted">Needed by {unit.needed_by.join(", ")}</p>}
      {unit.problems.map((each, at) => (
        <div class="failure" key={at}>
          <p>
            <b>{each.summary}</b> <span class="muted">{each.at}</span>
          </p>
          <p class="problem-detail">{each.detail}</p>
        </div>
      ))}
    </div>
  );
}
