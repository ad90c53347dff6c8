// A fleet: its units, what they need and why, and how far an apply is that has not ended.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { FleetUnit } from "./document";
import { doc } from "./document";
import type { Route } from "./route";
import { change, href } from "./route";
import { Empty, Icon, count } from "./ui";
import { Virtual } from "./virtual";

const STATES: Record<string, string> = { start: "unknown", done: "pass" };

export function FleetView({ route }: { route: Route }): VNode {
  const fleet = doc.fleet!;
  const wanted = (route.options.get("q") ?? "").toLowerCase();
  const open = route.options.get("unit") ?? "";
  const units = useMemo(() => fleet.units.filter((each) => `${each.name} ${each.directory} ${each.labels.join(" ")}`.toLowerCase().includes(wanted)), [wanted]);
  return (
    <div class="main">
      <header class="main-head">
        <h2>Fleet</h2>
        <p class="totals">
          <span>{count(fleet.units.length, "unit")}</span>
          <span>{count(fleet.edges.length, "dependency", "dependencies")}</span>
          <span>{count(fleet.layers.length, "layer")}</span>
          {fleet.cycles.length > 0 && <span class="mark-delete">{count(fleet.cycles.length, "cycle")}</span>}
          {fleet.journal && <span class="tag tag-warn">an apply has not finished</span>}
        </p>
      </header>
      <div class="toolbar">
        <label class="filter">
          <Icon name="search" />
          <input type="search" placeholder="Filter units" aria-label="Filter units" value={route.options.get("q") ?? ""} onInput={(event) => change(route, { q: event.currentTarget.value })} />
        </label>
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
          render={(unit) => <Unit unit={unit} isOpen={unit.name === open} onClick={() => change(route, { unit: unit.name === open ? undefined : unit.name })} />}
        />
      ) : (
        <Empty title="No unit matches" />
      )}
    </div>
  );
}

function Unit({ unit, isOpen, onClick }: { unit: FleetUnit; isOpen: boolean; onClick: () => void }): VNode {
  const state = doc.fleet!.journal?.states[unit.name];
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
        {state && <span class={`status status-${STATES[state] ?? "fail"}`}>{state === "start" ? "interrupted" : state}</span>}
        {unit.problems.length > 0 && <span class="tag tag-warn">{count(unit.problems.length, "problem")}</span>}
        <span class="change-why muted">{unit.needs.length ? `needs ${unit.needs.join(", ")}` : ""}</span>
      </button>
      {isOpen && <UnitDetail unit={unit} />}
    </article>
  );
}

function UnitDetail({ unit }: { unit: FleetUnit }): VNode {
  const edges = doc.fleet!.edges.filter((each) => each.unit === unit.name);
  return (
    <div class="change-detail">
      <dl class="facts unit-facts">
        <div>
          <dt>Directory</dt>
          <dd class="address">{unit.directory}</dd>
        </div>
        <div>
          <dt>Workspace</dt>
          <dd>{unit.workspace}</dd>
        </div>
        {unit.state && (
          <div>
            <dt>State</dt>
            <dd class="address">{unit.state}</dd>
          </div>
        )}
        <div>
          <dt>Graph</dt>
          <dd>
            <a href={href("graph", "", { of: "units", focus: unit.name })}>what it needs, and who needs it</a>
          </dd>
        </div>
      </dl>
      {edges.length > 0 && (
        <ul class="plain-list">
          {edges.map((each, at) => (
            <li key={at}>
              needs <a href={href("fleet", "", { unit: each.needs })}>{each.needs}</a> <span class="muted">{each.reason.replaceAll("_", " ")}</span> <span class="address">{each.address}</span>{" "}
              <span class="muted">{each.at}</span>
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
