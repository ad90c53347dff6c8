// What of a graph is drawn: kinds that are left out, modules that are folded, neighbours, paths.
import { modulePath } from "./addresses";
import type { GraphNode } from "./document";

export class Graph {
  readonly needs: number[][];
  readonly users: number[][];
  private readonly numbers = new Map<string, number>();

  constructor(readonly nodes: GraphNode[]) {
    this.needs = nodes.map((each) => each.needs);
    this.users = nodes.map(() => []);
    nodes.forEach((each, at) => {
      each.needs.forEach((need) => this.users[need].push(at));
      const key = this.nameOf(at);
      if (!this.numbers.has(key)) this.numbers.set(key, at);
      if (!this.numbers.has(each.address)) this.numbers.set(each.address, at);
    });
  }

  nameOf(at: number): string {
    return this.nodes[at].address;
  }

  find(address: string): number | undefined {
    return this.numbers.get(address);
  }

  /** Everything that can be reached, each with how far away it is. */
  reach(starts: number[], next: number[][], most = Infinity): Map<number, number> {
    const found = new Map(starts.map((each) => [each, 0]));
    const queue = [...starts];
    for (let at = 0; at < queue.length; at++) {
      const distance = found.get(queue[at])!;
      if (distance >= most) continue;
      for (const each of next[queue[at]]) {
        if (!found.has(each)) {
          found.set(each, distance + 1);
          queue.push(each);
        }
      }
    }
    return found;
  }

  /** A node with what is so many steps away from it, in both directions. */
  around(at: number, steps: number): Set<number> {
    return new Set([...this.reach([at], this.needs, steps).keys(), ...this.reach([at], this.users, steps).keys()]);
  }

  /** Everything on some path from one node to another, whichever needs the other. */
  between(one: number, other: number): Set<number> {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ]) {
      const down = this.reach([from], this.needs);
      if (!down.has(to)) continue;
      const up = this.reach([to], this.users);
      return new Set([...down.keys()].filter((each) => up.has(each)));
    }
    return new Set();
  }
}

export interface DrawnNode {
  id: string;
  label: string;
  kind: string;
  members: number[];
  /** What opens when a group is opened; empty for a single node. */
  opens: string;
}

export interface Drawn {
  nodes: DrawnNode[];
  edges: [number, number][];
}

/** More than these are folded, first by module, then by type. */
export const MOST_DRAWN = 240;

export function typeOf(node: GraphNode): string {
  const name = node.module ? node.address.slice(node.module.length + 1) : node.address;
  if (["var", "local", "output", "check", "provider", "module"].includes(node.kind)) return node.kind;
  const words = name.split(".");
  return words[0] === "data" || words[0] === "ephemeral" ? `${words[0]}.${words[1]}` : words[0];
}

export function shortName(node: GraphNode): string {
  return node.address.replace(/\bmodule\./g, "").replace(/^provider\["([^"]*)"\]/, (_, source: string) => `provider ${source.split("/").pop()}`);
}

/** The graph of what is wanted: what is left out passes its needs on, what is folded is one node. */
export function drawn(graph: Graph, isShown: (at: number) => boolean, opened: Set<string>, folds: boolean): Drawn {
  const shown = graph.nodes.flatMap((_, at) => (isShown(at) ? [at] : []));
  const isOpen = shown.length <= MOST_DRAWN || !folds;
  const groups = new Map<string, number>();
  const nodes: DrawnNode[] = [];
  const place = new Int32Array(graph.nodes.length).fill(-1);
  const perModule = new Map<string, number>();
  if (!isOpen) {
    for (const at of shown) {
      const module = graph.nodes[at].module ?? "";
      perModule.set(module, (perModule.get(module) ?? 0) + 1);
    }
  }
  for (const at of shown) {
    const node = graph.nodes[at];
    const group = isOpen ? undefined : groupOf(node, opened, perModule);
    const id = group?.id ?? `${node.kind} ${node.address} ${node.deposed ?? ""}`;
    let number = groups.get(id);
    if (number === undefined) {
      number = nodes.length;
      groups.set(id, number);
      nodes.push({ id, label: group?.label ?? shortName(node), kind: group?.kind ?? node.kind, members: [], opens: group?.id ?? "" });
    }
    nodes[number].members.push(at);
    place[at] = number;
  }
  return { nodes, edges: reduced(nodes.length, edgesOf(graph, shown, place)) };
}

function groupOf(node: GraphNode, opened: Set<string>, perModule: Map<string, number>): { id: string; label: string; kind: string } | undefined {
  for (const module of modulePath(node.module ?? "")) {
    if (!opened.has(module)) return { id: module, label: module.replace(/^.*\bmodule\./, "module "), kind: "module-group" };
  }
  const module = node.module ?? "";
  if ((perModule.get(module) ?? 0) <= MOST_DRAWN) return undefined;
  const type = typeOf(node);
  const id = `${module} ${node.kind} ${type}`;
  return opened.has(id) ? undefined : { id, label: type, kind: "type-group" };
}

function edgesOf(graph: Graph, shown: number[], place: Int32Array): Set<number>[] {
  // For each node that is left out, what is drawn of that which it needs.
  const through = new Map<number, Set<number>>();
  const pass = (start: number): Set<number> => {
    const stack = [start];
    while (stack.length) {
      const at = stack[stack.length - 1];
      if (through.has(at)) {
        stack.pop();
        continue;
      }
      const waiting = graph.needs[at].filter((each) => place[each] < 0 && !through.has(each) && !stack.includes(each));
      if (waiting.length) {
        stack.push(...waiting);
        continue;
      }
      const found = new Set<number>();
      for (const each of graph.needs[at]) {
        if (place[each] >= 0) found.add(place[each]);
        else through.get(each)?.forEach((one) => found.add(one));
      }
      through.set(at, found);
      stack.pop();
    }
    return through.get(start)!;
  };
  const edges: Set<number>[] = [];
  for (const at of shown) {
    const to = place[at];
    const from = (edges[to] ??= new Set());
    for (const need of graph.needs[at]) {
      if (place[need] >= 0) from.add(place[need]);
      else pass(need).forEach((each) => from.add(each));
    }
    from.delete(to);
  }
  return edges;
}

const MOST_REDUCED = 1500;

/** Edges without those that follow from others; all of them where there are circles. */
function reduced(size: number, needs: Set<number>[]): [number, number][] {
  const all = (): [number, number][] => needs.flatMap((from, to) => [...(from ?? [])].map((each): [number, number] => [each, to]));
  if (size > MOST_REDUCED) return all();
  const waiting = new Int32Array(size);
  const followers: number[][] = Array.from({ length: size }, () => []);
  needs.forEach((from, to) => from?.forEach((each) => (followers[each].push(to), waiting[to]++)));
  const order = Array.from({ length: size }, (_, at) => at).filter((at) => !waiting[at]);
  for (let at = 0; at < order.length; at++) {
    for (const each of followers[order[at]]) if (!--waiting[each]) order.push(each);
  }
  if (order.length < size) return all();
  const words = (size + 31) >> 5;
  const reached = new Uint32Array(size * words);
  const kept: [number, number][] = [];
  for (const at of order) {
    const beyond = reached.subarray(at * words, (at + 1) * words);
    const direct = [...(needs[at] ?? [])];
    for (const each of direct) {
      const other = reached.subarray(each * words, (each + 1) * words);
      for (let word = 0; word < words; word++) beyond[word] |= other[word];
    }
    for (const each of direct) if (!((beyond[each >> 5] >>> (each & 31)) & 1)) kept.push([each, at]);
    for (const each of direct) beyond[each >> 5] |= 1 << (each & 31);
  }
  return kept;
}
