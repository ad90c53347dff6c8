// The graph: what depends on what, among blocks or among the operations of a plan.
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { doc } from "./document";
import type { Events } from "./events";
import { STATES, knownOf, stateOf } from "./fleet-run";
import type { Drawn } from "./graph-model";
import { Graph, drawn } from "./graph-model";
import { Picture } from "./picture";
import type { Route } from "./route";
import { change, href } from "./route";
import { Empty, Icon, Missing, count } from "./ui";

const graphs = new Map<string, Graph>();
function graphOf(name: string): Graph {
  let found = graphs.get(name);
  if (!found) {
    found = new Graph((name === "operations" ? doc.operations : doc.blocks) ?? []);
    graphs.set(name, found);
  }
  return found;
}

/** The units of a fleet, each with the state that it is in by now. */
function useUnits(events: Events): Graph {
  const units = doc.fleet?.units ?? [];
  const known = useMemo(() => (doc.fleet ? knownOf(events.all) : undefined), [events.all]);
  const states = known ? units.map((each) => stateOf(each.name, known)) : [];
  return useMemo(() => {
    const numbers = new Map(units.map((each, at) => [each.name, at]));
    return new Graph(units.map((each, at) => ({ address: each.name, kind: states[at] ? `unit-${states[at]}` : "unit", needs: each.needs.flatMap((need) => numbers.get(need) ?? []) })));
  }, [states.join()]);
}

const KINDS: Record<string, [kind: string, title: string, isUsual: boolean][]> = {
  blocks: [
    ["resource", "resources", true],
    ["data", "data", true],
    ["ephemeral", "ephemeral", true],
    ["module", "module calls", false],
    ["var", "variables", false],
    ["local", "locals", false],
    ["output", "outputs", true],
    ["provider", "providers", false],
    ["check", "checks", true],
  ],
  units: [
    ["unit", "not applied", true],
    ...Object.entries(STATES).map(([state, [, word]]): [string, string, boolean] => [`unit-${state}`, word, true]),
  ],
  operations: [
    ["create", "create", true],
    ["update", "update", true],
    ["delete", "destroy", true],
    ["read", "read", true],
    ["forget", "forget", true],
    ["check", "check", true],
    ["open", "open", false],
    ["close", "close", false],
    ["settle", "settle", false],
  ],
};

export function GraphView({ route, events }: { route: Route; events: Events }): VNode {
  const { options } = route;
  const usual = doc.fleet ? "units" : "blocks";
  const of = options.get("of") === "operations" && doc.operations ? "operations" : usual;
  const units = useUnits(events);
  const graph = of === "units" ? units : graphOf(of);
  const opened = useMemo(() => new Set((options.get("open") ?? "").split("|").filter(Boolean)), [options.get("open")]);
  const kinds = useMemo(() => chosenKinds(of, graph, options.get("kinds")), [graph, options.get("kinds")]);
  const focus = found(graph, options.get("focus"));
  const to = found(graph, options.get("to"));
  const target = found(graph, options.get("target"));
  const steps = Number(options.get("steps") ?? 1);

  const scope = useMemo(() => {
    if (focus === undefined) return undefined;
    return to === undefined ? graph.around(focus, steps) : graph.between(focus, to);
  }, [graph, focus, to, steps]);
  const targeted = useMemo(() => (target === undefined ? undefined : new Set(graph.reach([target], graph.needs).keys())), [graph, target]);
  const picture = useMemo(() => {
    const shows = (at: number) => {
      if (scope) return scope.has(at) && (kinds.has(graph.nodes[at].kind) || at === focus || at === to || scope.size < 60);
      return kinds.has(graph.nodes[at].kind);
    };
    return drawn(graph, shows, opened, true);
  }, [graph, scope, kinds, opened, focus, to]);

  const selected = focus ?? target;
  const lost = ["focus", "to", "target"].map((name) => options.get(name)).find((each) => each && found(graph, each) === undefined);
  return (
    <div class={`split graph-split ${selected === undefined ? "" : "has-panel"}`}>
      <div class="main">
        <header class="main-head graph-head">
          <Toolbar route={route} of={of} graph={graph} kinds={kinds} picture={picture} targeted={targeted} />
        </header>
        {lost && <Missing name={lost} />}
        {picture.nodes.length ? (
          <Picture route={route} graph={graph} picture={picture} selected={selected} targeted={targeted} opened={opened} />
        ) : (
          <Empty title={scope && to !== undefined ? "There is no path between these two" : "Nothing to draw"}>
            {scope && to !== undefined ? "Neither depends on the other." : "Show more kinds of nodes."}
          </Empty>
        )}
      </div>
      {selected !== undefined && <NodePanel route={route} graph={graph} at={selected} targeted={targeted} />}
    </div>
  );
}

function found(graph: Graph, address: string | null): number | undefined {
  return address ? graph.find(address) : undefined;
}

function chosenKinds(of: string, graph: Graph, given: string | null): Set<string> {
  if (given !== null) return new Set(given.split(","));
  const present = new Set(graph.nodes.map((each) => each.kind));
  const usual = KINDS[of].filter(([kind, , isUsual]) => isUsual && present.has(kind)).map(([kind]) => kind);
  // Where there is nothing else, values are better than an empty picture.
  return new Set(usual.length ? usual : present);
}

function Toolbar({ route, of, graph, kinds, picture, targeted }: { route: Route; of: string; graph: Graph; kinds: Set<string>; picture: Drawn; targeted?: Set<number> }): VNode {
  const present = new Set(graph.nodes.map((each) => each.kind));
  const toggle = (kind: string) => {
    const next = new Set(kinds);
    if (!next.delete(kind)) next.add(kind);
    change(route, { kinds: [...next].join(",") });
  };
  const number = picture.nodes.reduce((sum, each) => sum + each.members.length, 0);
  return (
    <div class="toolbar graph-toolbar">
      {doc.operations && (
        <div class="segments" role="group" aria-label="Graph of">
          {["blocks", "operations"].map((each) => (
            <a key={each} href={href("graph", "", { of: each })} aria-current={each === of ? "true" : undefined}>
              {each}
            </a>
          ))}
        </div>
      )}
      <NodeSearch graph={graph} label="Go to a node" onChoose={(address) => change(route, { focus: address, to: undefined, target: undefined }, false)} />
      <div class="chips" role="group" aria-label="Kinds of nodes">
        {KINDS[of]
          .filter(([kind]) => present.has(kind))
          .map(([kind, title]) => (
            <button key={kind} class={`chip node-chip kind-${kind}`} aria-pressed={kinds.has(kind)} onClick={() => toggle(kind)}>
              {title}
            </button>
          ))}
      </div>
      <span class="muted" role="status">
        {count(number, "node")}
        {picture.nodes.length < number && `, drawn as ${picture.nodes.length.toLocaleString("en")}`}
        {targeted && ` · -target takes ${count(targeted.size, "node")}`}
      </span>
      {(route.options.has("focus") || route.options.has("target") || route.options.has("open")) && (
        <a class="quiet-link" href={href("graph", "", { of: route.options.get("of") ?? undefined })}>
          Show all
        </a>
      )}
    </div>
  );
}

function NodeSearch({ graph, label, onChoose }: { graph: Graph; label: string; onChoose: (address: string) => void }): VNode {
  const [wanted, want] = useState("");
  const text = wanted.trim().toLowerCase();
  const hits = useMemo(() => {
    if (!text) return [];
    const seen = new Set<string>();
    for (const each of graph.nodes) {
      if (each.address.toLowerCase().includes(text)) seen.add(each.address);
      if (seen.size >= 30) break;
    }
    return [...seen];
  }, [graph, text]);
  const id = `nodes-${label.replace(/\W/g, "-")}`;
  const choose = (address: string) => {
    want("");
    onChoose(address);
  };
  return (
    <div class="node-search">
      <label class="filter">
        <Icon name="search" />
        <input
          type="search"
          aria-label={label}
          placeholder={label}
          value={wanted}
          aria-controls={hits.length ? id : undefined}
          onInput={(event) => want(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && hits.length && choose(hits[0])}
        />
      </label>
      {hits.length > 0 && (
        <ul class="node-hits" id={id}>
          {hits.map((each) => (
            <li key={each}>
              <button onClick={() => choose(each)}>{each}</button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function NodePanel({ route, graph, at, targeted }: { route: Route; graph: Graph; at: number; targeted?: Set<number> }): VNode {
  const node = graph.nodes[at];
  const reached = useMemo(() => graph.reach([at], graph.needs).size - 1, [graph, at]);
  const affected = useMemo(() => graph.reach([at], graph.users).size - 1, [graph, at]);
  const steps = Number(route.options.get("steps") ?? 1);
  return (
    <section class="panel" aria-label={node.address}>
      <header class="panel-head">
        <h2 class="address">{node.address}</h2>
        <button class="icon-button" onClick={() => change(route, { focus: undefined, to: undefined, target: undefined }, false)} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <p>
          <span class={`tag kind-${node.kind}`}>{node.kind.replace("-", " ")}</span>
          {node.deposed && <span class="tag tag-warn">deposed {node.deposed}</span>}
        </p>
        <p class="muted">
          Needs {count(reached, "node")} in all; {count(affected, "node")} {affected === 1 ? "depends" : "depend"} on it.
        </p>
        <div class="panel-actions">
          <label class="choice">
            <span>Neighbours</span>
            <select value={String(steps)} onChange={(event) => change(route, { focus: node.address, target: undefined, to: undefined, steps: event.currentTarget.value })}>
              {[1, 2, 3, 5, 99].map((each) => (
                <option key={each} value={String(each)}>
                  {each === 99 ? "all" : count(each, "step")}
                </option>
              ))}
            </select>
          </label>
          {!doc.fleet && <button onClick={() => change(route, targeted ? { target: undefined } : { target: node.address, focus: undefined, to: undefined }, false)} aria-pressed={!!targeted}>
            Preview -target
          </button>}
        </div>
        <NodeSearch graph={graph} label="Path to another node" onChoose={(address) => change(route, { focus: node.address, target: undefined, to: address }, false)} />
        {route.options.get("to") && (
          <p>
            Path to <span class="address">{route.options.get("to")}</span>{" "}
            <button class="quiet-link" onClick={() => change(route, { to: undefined }, false)}>
              remove
            </button>
          </p>
        )}
        {targeted && (
          <p class="command">
            <code>nigari plan -target='{node.address}'</code>
          </p>
        )}
        <NodeList title="Needs" graph={graph} all={graph.needs[at]} route={route} />
        <NodeList title="Needed by" graph={graph} all={graph.users[at]} route={route} />
      </div>
    </section>
  );
}

function NodeList({ title, graph, all, route }: { title: string; graph: Graph; all: number[]; route: Route }): VNode | null {
  if (!all.length) return null;
  return (
    <>
      <h3>
        {title} <span class="count">{all.length}</span>
      </h3>
      <ul class="plain-list">
        {all.slice(0, 200).map((each) => (
          <li key={each}>
            <a class="node-link" href={href("graph", "", { of: route.options.get("of") ?? undefined, focus: graph.nodes[each].address })}>
              <span class={`dot kind-${graph.nodes[each].kind}`} />
              <span class="address">{graph.nodes[each].address}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
