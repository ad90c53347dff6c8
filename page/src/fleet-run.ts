// What is known of the units of a fleet: from its last plan or apply, and from the last apply of each.
import type { ApplyEvent, FleetUnfinished, UnitApplied, UnitChanges } from "./document";
import { doc } from "./document";

export type State = "waiting" | "planning" | "planned" | "unchanged" | "applying" | "applied" | "failed" | "unapproved" | "skipped" | "interrupted";
export const STATES: Record<State, [look: string, word: string]> = {
  waiting: ["", "waiting"],
  planning: ["unknown", "planning"],
  applying: ["unknown", "applying"],
  planned: ["change", "planned"],
  unchanged: ["", "no changes"],
  applied: ["pass", "applied"],
  unapproved: ["unknown", "needs approval"],
  skipped: ["", "not begun"],
  failed: ["fail", "failed"],
  interrupted: ["fail", "interrupted"],
};

export interface UnitRun {
  state: State;
  at: number;
  changes?: UnitChanges;
  because?: string;
  log?: string;
}

export interface FleetRun {
  phase: "plan" | "apply";
  goesOn: boolean;
  units: Map<string, UnitRun>;
}

export interface Known {
  applied: Record<string, UnitApplied>;
  run?: FleetRun;
  unfinished: FleetUnfinished | null;
}

/** What the page came with, and what has happened since. */
export function knownOf(events: ApplyEvent[]): Known {
  const known: Known = { applied: { ...doc.fleet!.applied }, unfinished: doc.fleet!.unfinished };
  for (const event of [...doc.fleet!.progress, ...events]) {
    if (event.type === "unit") known.applied[event.unit!] = event as unknown as UnitApplied;
    else if (event.type === "unfinished") known.unfinished = event.apply ?? null;
    else if (event.type === "fleet") known.run = begun(event);
    else if (known.run) go(known.run, event);
  }
  return known;
}

function begun({ phase, units, at }: ApplyEvent): FleetRun {
  return { phase: phase!, goesOn: true, units: new Map(units!.map((each) => [each, { state: "waiting", at }])) };
}

function go(run: FleetRun, event: ApplyEvent): void {
  const { unit, at } = event;
  if (event.type === "unit_start") run.units.set(unit!, { state: run.phase === "plan" ? "planning" : "applying", at });
  else if (event.type === "unit_end") run.units.set(unit!, { state: result(run, event), at, changes: event.changes, because: event.because_of, log: event.log });
  else if (event.type === "end" || event.type === "stopped") {
    run.goesOn = false;
    for (const [name, each] of run.units) {
      if (each.state === "planning" || each.state === "applying") run.units.set(name, { ...each, state: "interrupted" });
      else if (each.state === "waiting") run.units.set(name, { ...each, state: "skipped" });
    }
  }
}

function result(run: FleetRun, event: ApplyEvent): State {
  if (event.status === "done") {
    if (event.is_empty) return "unchanged";
    return run.phase === "plan" ? "planned" : "applied";
  }
  if (event.status === "needs approval") return "unapproved";
  return event.status === "skipped" || event.status === "failed" ? event.status : "interrupted";
}

/** The state of a unit: what is newer, the last command over the fleet or an apply of the unit alone. */
export function stateOf(unit: string, { applied, run }: Known): State | "" {
  const last = applied[unit];
  const told = run?.units.get(unit);
  if (last?.state === "running") return "applying";
  if (told && told.at >= (last?.start ?? 0)) return told.state;
  if (!last) return "";
  return { done: "applied", failed: "failed", stopped: "interrupted" }[last.state] as State;
}
