// What the events of an apply say: what was done when, and what waits for what.
import type { ApplyEvent, GraphNode } from "./document";
import { doc } from "./document";

export interface Work {
  id: string;
  address: string;
  action: string;
  deposed?: string;
  start: number;
  end?: number;
  hasFailed?: boolean;
  lines: string[];
  /** The operations of its plan, which is one of several where they are applied in rounds. */
  order: Order;
  /** The number of its operation among them. */
  operation?: number;
}

export interface Run {
  works: Work[];
  problems: ApplyEvent[];
  state: "idle" | "next" | "running" | "stopping" | "done" | "failed" | "stopped";
  order: Order;
  mode?: string;
  start?: number;
  end?: number;
  message?: string;
  counts?: Record<string, number>;
}

const WORKING = new Set(["create", "update", "delete", "read"]);
const keyOf = (action: string, address: string, deposed = ""): string => `${action} ${address} ${deposed}`;

/** The operations of a plan, and which must be done before which. */
export class Order {
  private readonly numbers = new Map<string, number>();
  private readonly known = new Map<number, number[]>();
  private followers?: number[][];

  constructor(readonly operations: GraphNode[]) {
    operations.forEach((each, at) => this.numbers.set(keyOf(each.kind, each.address, each.deposed), at));
  }

  find(action: string, address: string, deposed?: string): number | undefined {
    return this.numbers.get(keyOf(action, address, deposed));
  }

  isWork(at: number): boolean {
    return WORKING.has(this.operations[at].kind);
  }

  /** The work before an operation. What takes no time by itself stands for what comes before it. */
  before(at: number): number[] {
    let found = this.known.get(at);
    if (!found) {
      found = this.reached(at, (each) => this.operations[each].needs);
      this.known.set(at, found);
    }
    return found;
  }

  /** The work that waits for an operation. */
  after(at: number): number[] {
    if (!this.followers) {
      const followers: number[][] = this.operations.map(() => []);
      this.operations.forEach((each, number) => each.needs.forEach((need) => followers[need].push(number)));
      this.followers = followers;
    }
    return this.reached(at, (each) => this.followers![each]);
  }

  private reached(start: number, next: (at: number) => number[]): number[] {
    const found: number[] = [];
    const seen = new Set<number>();
    const pending = [...next(start)];
    while (pending.length) {
      const each = pending.pop()!;
      if (seen.has(each)) continue;
      seen.add(each);
      if (this.isWork(each)) found.push(each);
      else pending.push(...next(each));
    }
    return found;
  }
}

const planned = new Order(doc.operations ?? []);

export function runOf(events: ApplyEvent[]): Run {
  let run: Run = begun();
  let open = new Map<string, Work>();
  let latest = new Map<string, Work>();
  for (const event of events) {
    const address = event.address ?? "";
    const key = keyOf(event.action ?? event.provisioner ?? "refresh", address, event.deposed);
    if (event.type === "apply") {
      // Another apply: the one before is over.
      run = { ...begun(), mode: event.mode };
      open = new Map();
      latest = new Map();
    } else if (event.type === "plan") {
      run.order = event.operations?.length ? new Order(event.operations) : planned;
      if (run.works.length) run.state = "next";
    } else if (event.type === "apply_start" || event.type === "refresh_start") {
      const action = event.type === "refresh_start" ? "refresh" : event.action!;
      const work: Work = { id: `${run.works.length}`, address, action, deposed: event.deposed, start: event.at, lines: [], order: run.order, operation: run.order.find(action, address, event.deposed) };
      run.start ??= event.at;
      if (run.state === "idle" || run.state === "next") run.state = "running";
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
    } else if (event.type === "interrupted") {
      run.state = "stopping";
    } else if (event.type === "end" || event.type === "stopped") {
      run.state = event.type === "stopped" ? "stopped" : event.succeeded === false ? "failed" : "done";
      run.end = event.at;
      run.message = event.text;
      run.counts = event.counts;
    }
  }
  return run;
}

const begun = (): Run => ({ works: [], problems: [], state: "idle", order: planned });

export interface Waiting {
  address: string;
  kind: string;
  on: string[];
}

const MOST_EXPLAINED = 500;

/** The operations of the plan that have not begun, with what they wait for. */
export function waitingOf(run: Run): Waiting[] {
  const { order } = run;
  const works = run.works.filter((each) => each.order === order);
  const begun = new Set(works.map((each) => each.operation));
  const done = new Set(works.filter((each) => each.end !== undefined && !each.hasFailed).map((each) => each.operation));
  const found: Waiting[] = [];
  order.operations.forEach((each, at) => {
    if (!order.isWork(at) || begun.has(at)) return;
    const on = found.length < MOST_EXPLAINED ? order.before(at).filter((one) => !done.has(one)) : [];
    found.push({ address: each.address, kind: each.kind, on: on.map((one) => order.operations[one].address) });
  });
  return found;
}

/** The work that others had to be done with before it began, what ended last first. */
export function waitedFor(run: Run, work: Work): Work[] {
  if (work.operation === undefined) return [];
  const before = new Set(work.order.before(work.operation));
  const found = run.works.filter((each) => each.order === work.order && each.operation !== undefined && before.has(each.operation) && each.end !== undefined);
  return found.sort((one, other) => other.end! - one.end!);
}

/** What decided how long it took: the work that ended last, what that waited for, and so on. */
export function longestChain(works: Work[]): Work[] {
  const until = (work: Work) => work.end ?? Infinity;
  const last = (some: Work[]): Work | undefined => some.reduce<Work | undefined>((latest, each) => (!latest || until(each) > until(latest) ? each : latest), undefined);
  const rounds = new Map<Order, Map<number, Work>>();
  for (const each of works) {
    if (!rounds.has(each.order)) rounds.set(each.order, new Map());
    if (each.operation !== undefined) rounds.get(each.order)!.set(each.operation, each);
  }
  const orders = [...rounds.keys()];
  const before = (work: Work): Work | undefined => {
    const own = rounds.get(work.order)!;
    const needed = work.operation === undefined ? [] : work.order.before(work.operation).flatMap((each) => own.get(each) ?? []);
    // What waits for nothing in its own round has waited for the whole round before.
    const earlier = orders[orders.indexOf(work.order) - 1];
    return last(needed) ?? (earlier && last([...rounds.get(earlier)!.values()]));
  };
  const chain: Work[] = [];
  for (let at = last(works); at; at = before(at)) chain.unshift(at);
  return chain;
}
