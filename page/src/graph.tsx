// The graph: what depends on what, among blocks or among the operations of a plan.
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { GraphNode } from "./document";
import { doc } from "./document";
import type { Drawn, DrawnNode } from "./graph-model";
import { Graph, MOST_DRAWN, drawn } from "./graph-model";
import type { Laid } from "./layout";
import { useLayout } from "./layout";
import type { Route } from "./route";
import { change, href } from "./route";
import { Empty, Icon, count } from "./ui";

const graphs = new Map<string, Graph>();
function graphOf(name: string): Graph {
  let found = graphs.get(name);
  if (!found) {
    found = new Graph(nodesOf(name));
    graphs.set(name, found);
  }
  return found;
}

function nodesOf(name: string): GraphNode[] {
  if (name !== "units") return (name === "operations" ? doc.operations : doc.blocks) ?? [];
  const units = doc.fleet?.units ?? [];
  const numbers = new Map(units.map((each, at) => [each.name, at]));
  return units.map((each) => ({ address: each.name, kind: "unit", needs: each.needs.flatMap((need) => numbers.get(need) ?? []) }));
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
  units: [["unit", "units", true]],
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

const HEIGHT = 28;

export function GraphView({ route }: { route: Route }): VNode {
  const { options } = route;
  const usual = doc.fleet ? "units" : "blocks";
  const of = options.get("of") === "operations" && doc.operations ? "operations" : usual;
  const graph = graphOf(of);
  const opened = useMemo(() => new Set((options.get("open") ?? "").split("|").filter(Boolean)), [options.get("open")]);
  const kinds = useMemo(() => chosenKinds(of, graph, options.get("kinds")), [of, options.get("kinds")]);
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
  return (
    <div class={`split graph-split ${selected === undefined ? "" : "has-panel"}`}>
      <div class="main">
        <header class="main-head graph-head">
          <Toolbar route={route} of={of} graph={graph} kinds={kinds} picture={picture} targeted={targeted} />
        </header>
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
        {picture.nodes.length < number && ` in ${picture.nodes.length}`}
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
          <span class={`tag kind-${node.kind}`}>{node.kind}</span>
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

// -- the picture ------------------------------------------------------------------------------

interface Eye {
  x: number;
  y: number;
  scale: number;
}

const CHARACTER = 6.7;
const MOST_CHARACTERS = 34;

function labelOf(node: DrawnNode): string {
  // Names end with what tells them apart.
  const text = node.label.length > MOST_CHARACTERS ? `…${node.label.slice(1 - MOST_CHARACTERS)}` : node.label;
  return node.opens ? `${text} · ${node.members.length}` : text;
}

function Picture({ route, graph, picture, selected, targeted, opened }: { route: Route; graph: Graph; picture: Drawn; selected?: number; targeted?: Set<number>; opened: Set<string> }): VNode {
  const labels = useMemo(() => picture.nodes.map(labelOf), [picture]);
  const sizes = useMemo(() => labels.map((each): [number, number] => [Math.max(60, each.length * CHARACTER + 26), HEIGHT]), [labels]);
  const laid = useLayout(sizes, picture.edges);
  const box = useRef<SVGSVGElement>(null);
  const [size, setSize] = useState({ width: 1000, height: 600 });
  const [eye, setEye] = useState<Eye>({ x: 0, y: 0, scale: 1 });
  useLayoutEffect(() => {
    const measure = () => box.current && setSize({ width: box.current.clientWidth, height: box.current.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const bounds = useMemo(() => (laid ? boundsOf(laid, sizes) : undefined), [laid]);
  const fit = () => bounds && setEye(fitted(bounds, size));
  useEffect(() => {
    if (bounds) setEye(opening(bounds, size, laid!, picture, selected));
  }, [bounds]);
  const pan = usePan(eye, setEye, box);

  const open = (node: DrawnNode) => {
    if (node.opens) change(route, { open: [...opened, node.opens].join("|") }, false);
    else change(route, { focus: graph.nodes[node.members[0]].address, to: undefined, target: undefined }, false);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = 60 / eye.scale;
    const moves: Record<string, Partial<Eye>> = {
      ArrowLeft: { x: eye.x - step },
      ArrowRight: { x: eye.x + step },
      ArrowUp: { y: eye.y - step },
      ArrowDown: { y: eye.y + step },
    };
    if (moves[event.key]) setEye({ ...eye, ...moves[event.key] });
    else if (event.key === "+" || event.key === "=") setEye(zoomed(eye, 1.25, size.width / 2, size.height / 2));
    else if (event.key === "-") setEye(zoomed(eye, 0.8, size.width / 2, size.height / 2));
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  };
  return (
    <div class="picture">
      <svg ref={box} class="graph" tabindex={0} role="group" aria-label={`Graph of ${count(picture.nodes.length, "node")}. Arrow keys move it, plus and minus zoom, 0 shows all of it.`} onKeyDown={onKey} {...pan}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0.8 7 4 0 7.2Z" class="arrow" />
          </marker>
        </defs>
        {laid && (
          <g transform={`translate(${-eye.x * eye.scale} ${-eye.y * eye.scale}) scale(${eye.scale})`}>
            <Edges picture={picture} laid={laid} sizes={sizes} eye={eye} size={size} targeted={targeted} selected={selected} />
            <Nodes picture={picture} laid={laid} sizes={sizes} labels={labels} eye={eye} size={size} graph={graph} selected={selected} targeted={targeted} onOpen={open} />
          </g>
        )}
      </svg>
      {!laid && (
        <p class="drawing" role="status">
          Drawing {count(picture.nodes.length, "node")}…
        </p>
      )}
      <div class="zoom">
        <button class="icon-button" aria-label="Zoom in" onClick={() => setEye(zoomed(eye, 1.25, size.width / 2, size.height / 2))}>
          <Icon name="plus" />
        </button>
        <button class="icon-button" aria-label="Zoom out" onClick={() => setEye(zoomed(eye, 0.8, size.width / 2, size.height / 2))}>
          <Icon name="minus" />
        </button>
        <button class="icon-button" aria-label="Show all of it" onClick={fit}>
          <Icon name="fit" />
        </button>
      </div>
      {picture.nodes.some((each) => each.opens) && <p class="hint">More than {MOST_DRAWN} nodes: modules and types are folded. Open one to see what is in it.</p>}
    </div>
  );
}

interface DrawProps {
  picture: Drawn;
  laid: Laid;
  sizes: [number, number][];
  eye: Eye;
  size: { width: number; height: number };
  selected?: number;
  targeted?: Set<number>;
}

const isIn = (node: DrawnNode, all?: Set<number>): boolean => !all || node.members.some((each) => all.has(each));

function Nodes({ picture, laid, sizes, labels, eye, size, graph, selected, targeted, onOpen }: DrawProps & { labels: string[]; graph: Graph; onOpen: (node: DrawnNode) => void }): VNode {
  const right = eye.x + size.width / eye.scale;
  const bottom = eye.y + size.height / eye.scale;
  const isFar = eye.scale < 0.28;
  return (
    <g>
      {picture.nodes.map((node, at) => {
        const [width, height] = sizes[at];
        const [x, y] = [laid.x[at] - width / 2, laid.y[at] - height / 2];
        if (x > right || y > bottom || x + width < eye.x || y + height < eye.y) return null;
        const isSelected = selected !== undefined && node.members.includes(selected);
        const names = `node kind-${node.kind} ${isSelected ? "is-selected" : ""} ${isIn(node, targeted) ? "" : "is-dim"} ${node.opens ? "is-group" : ""}`;
        return (
          <g
            key={node.id}
            class={names}
            transform={`translate(${x} ${y})`}
            role="button"
            tabindex={0}
            aria-label={node.opens ? `Open ${node.label}, ${count(node.members.length, "node")}` : `${node.kind} ${graph.nodes[node.members[0]].address}`}
            onClick={() => onOpen(node)}
            onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), event.stopPropagation(), onOpen(node))}
          >
            <title>{node.opens ? node.label : graph.nodes[node.members[0]].address}</title>
            {node.opens && <rect class="node-behind" x="3" y="3" width={width} height={height} rx="6" />}
            <rect class="node-box" width={width} height={height} rx="6" />
            <rect class="node-side" width="4" height={height - 10} x="5" y="5" rx="2" />
            {!isFar && (
              <text x="16" y={height / 2 + 4}>
                {labels[at]}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

function Edges({ picture, laid, sizes, eye, size, targeted, selected }: DrawProps): VNode {
  const right = eye.x + size.width / eye.scale;
  const bottom = eye.y + size.height / eye.scale;
  return (
    <g class="edges">
      {picture.edges.map(([from, to], at) => {
        const points = laid.routes[at];
        const [x1, y1] = [laid.x[from] + sizes[from][0] / 2, laid.y[from]];
        const [x2, y2] = [laid.x[to] - sizes[to][0] / 2, laid.y[to]];
        if (Math.min(x1, x2) > right || Math.max(x1, x2) < eye.x || Math.min(y1, y2) > bottom || Math.max(y1, y2) < eye.y) return null;
        const isDim = !isIn(picture.nodes[from], targeted) || !isIn(picture.nodes[to], targeted);
        const isNear = selected !== undefined && (picture.nodes[from].members.includes(selected) || picture.nodes[to].members.includes(selected));
        return <path key={at} class={`edge ${isDim ? "is-dim" : ""} ${isNear ? "is-near" : ""}`} d={curve(x1, y1, x2, y2, points)} marker-end="url(#arrow)" />;
      })}
    </g>
  );
}

/** A smooth way from one side to the other, through the points between them. */
function curve(x1: number, y1: number, x2: number, y2: number, points: number[]): string {
  const way: [number, number][] = [[x1, y1]];
  const inner: [number, number][] = [];
  for (let at = 2; at + 3 < points.length; at += 2) inner.push([points[at], points[at + 1]]);
  if (inner.length && Math.sign(inner[inner.length - 1][0] - inner[0][0] || 1) !== Math.sign(x2 - x1)) inner.reverse();
  way.push(...inner, [x2, y2]);
  let path = `M${way[0][0]} ${way[0][1]}`;
  for (let at = 1; at < way.length; at++) {
    const [from, to] = [way[at - 1], way[at]];
    const middle = (from[0] + to[0]) / 2;
    path += `C${middle} ${from[1]} ${middle} ${to[1]} ${to[0]} ${to[1]}`;
  }
  return path;
}

interface Bounds {
  left: number;
  top: number;
  width: number;
  height: number;
}

function boundsOf(laid: Laid, sizes: [number, number][]): Bounds {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  sizes.forEach(([width, height], at) => {
    left = Math.min(left, laid.x[at] - width / 2);
    right = Math.max(right, laid.x[at] + width / 2);
    top = Math.min(top, laid.y[at] - height / 2);
    bottom = Math.max(bottom, laid.y[at] + height / 2);
  });
  return { left, top, width: right - left, height: bottom - top };
}

const MARGIN = 32;

function fitted(bounds: Bounds, size: { width: number; height: number }): Eye {
  const scale = Math.min(1, (size.width - 2 * MARGIN) / bounds.width, (size.height - 2 * MARGIN) / bounds.height);
  const used = Math.max(scale, 0.02);
  return { scale: used, x: bounds.left - (size.width / used - bounds.width) / 2, y: bounds.top - (size.height / used - bounds.height) / 2 };
}

/** All of it if that can be read; otherwise what is selected, or where it begins. */
function opening(bounds: Bounds, size: { width: number; height: number }, laid: Laid, picture: Drawn, selected?: number): Eye {
  const all = fitted(bounds, size);
  if (all.scale >= 0.5) return all;
  const at = selected === undefined ? -1 : picture.nodes.findIndex((each) => each.members.includes(selected));
  const scale = 0.75;
  if (at >= 0) return { scale, x: laid.x[at] - size.width / scale / 2, y: laid.y[at] - size.height / scale / 2 };
  return { scale: Math.max(all.scale, 0.35), x: bounds.left - MARGIN, y: bounds.top - MARGIN };
}

function zoomed(eye: Eye, by: number, x: number, y: number): Eye {
  const scale = Math.min(3, Math.max(0.02, eye.scale * by));
  return { scale, x: eye.x + x / eye.scale - x / scale, y: eye.y + y / eye.scale - y / scale };
}

function usePan(eye: Eye, setEye: (eye: Eye) => void, box: { current: SVGSVGElement | null }) {
  const from = useRef<{ x: number; y: number; eye: Eye; moved: boolean } | undefined>(undefined);
  const now = useRef(eye);
  now.current = eye;
  useEffect(() => {
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const area = box.current!.getBoundingClientRect();
      const at = now.current;
      if (event.ctrlKey || event.metaKey || !event.shiftKey) {
        setEye(zoomed(at, Math.exp(-event.deltaY / 400), event.clientX - area.left, event.clientY - area.top));
      } else {
        setEye({ ...at, x: at.x + event.deltaY / at.scale });
      }
    };
    box.current?.addEventListener("wheel", onWheel, { passive: false });
    return () => box.current?.removeEventListener("wheel", onWheel);
  }, []);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0) from.current = { x: event.clientX, y: event.clientY, eye, moved: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const start = from.current;
      if (!start) return;
      const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
      if (!start.moved && Math.hypot(dx, dy) < 4) return;
      if (!start.moved) box.current?.setPointerCapture(event.pointerId);
      start.moved = true;
      setEye({ ...start.eye, x: start.eye.x - dx / start.eye.scale, y: start.eye.y - dy / start.eye.scale });
    },
    onPointerUp: () => {
      from.current = undefined;
    },
  };
}

