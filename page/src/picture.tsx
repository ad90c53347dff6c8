// The picture of a graph: nodes that can be used where few are in sight, painted where many are.
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { framesOf } from "./frames";
import type { Drawn, DrawnNode, Graph } from "./graph-model";
import { MOST_DRAWN } from "./graph-model";
import type { Laid } from "./layout";
import { useLayout } from "./layout";
import type { Eye, Painted, Size } from "./paint";
import { paint } from "./paint";
import type { Route } from "./route";
import { change } from "./route";
import { Icon, count } from "./ui";

const HEIGHT = 28;
/** With more in sight they are painted, and have no names. */
const MOST_SHAPES = 300;
const CHARACTER = 6.7;
const MOST_CHARACTERS = 34;

function labelOf(node: DrawnNode): string {
  // Names end with what tells them apart.
  const text = node.label.length > MOST_CHARACTERS ? `…${node.label.slice(1 - MOST_CHARACTERS)}` : node.label;
  return node.opens ? `${text} · ${node.members.length.toLocaleString("en")}` : text;
}

export function Picture({ route, graph, picture, selected, targeted, opened }: { route: Route; graph: Graph; picture: Drawn; selected?: number; targeted?: Set<number>; opened: Set<string> }): VNode {
  const labels = useMemo(() => picture.nodes.map(labelOf), [picture]);
  const sizes = useMemo(() => labels.map((each): [number, number] => [Math.max(60, each.length * CHARACTER + 26), HEIGHT]), [labels]);
  const laid = useLayout(sizes, picture.edges);
  const box = useRef<SVGSVGElement>(null);
  const [size, setSize] = useState<Size>({ width: 1000, height: 600 });
  const [eye, setEye] = useState<Eye>({ x: 0, y: 0, scale: 1 });
  useLayoutEffect(() => {
    const measure = () => box.current && setSize({ width: box.current.clientWidth, height: box.current.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const bounds = useMemo(() => (laid ? boundsOf(laid, sizes) : undefined), [laid]);
  const frames = useMemo(() => (laid && sizes.length <= MOST_SHAPES ? framesOf(graph, picture, laid, sizes) : []), [laid]);
  const isFolded = picture.nodes.some((each) => each.opens);
  const insets = { right: size.width < NARROW ? 52 : 0, bottom: isFolded ? (size.width < NARROW ? 88 : 44) : 0 };
  const fit = () => bounds && setEye(fitted(bounds, size, insets));
  useLayoutEffect(() => {
    if (bounds) setEye(opening(bounds, size, insets, laid!, picture, selected));
  }, [bounds]);

  const marks = useMemo(() => marksOf(picture, selected, targeted), [picture, selected, targeted]);
  const inSight = useMemo(() => (laid ? seen(laid, sizes, eye, size) : []), [laid, eye, size]);
  const isFar = inSight.length > MOST_SHAPES;
  const canvas = usePaint(laid && { picture, laid, sizes, eye, size, marks, nodes: isFar ? inSight : [] });

  const open = (node: DrawnNode) => {
    if (node.opens) change(route, { open: [...opened, node.opens].join("|") }, false);
    else change(route, { focus: graph.nodes[node.members[0]].address, to: undefined, target: undefined }, false);
  };
  const [pointed, point] = useState<{ node: number; x: number; y: number }>();
  const nodeAt = (event: MouseEvent): { node: number; x: number; y: number } | undefined => {
    if (!laid || !isFar) return undefined;
    const area = box.current!.getBoundingClientRect();
    const [left, top] = [event.clientX - area.left, event.clientY - area.top];
    const node = at(inSight, laid, sizes, eye.x + left / eye.scale, eye.y + top / eye.scale);
    return node === undefined ? undefined : { node, x: left, y: top };
  };
  const pan = usePan(eye, setEye, box, (event) => {
    const found = nodeAt(event);
    if (found) open(picture.nodes[found.node]);
  });
  const name = `Graph of ${count(picture.nodes.length, "node")}. Arrow keys move it, plus and minus zoom, 0 shows all of it.`;
  return (
    <div class="picture">
      <canvas class="painting" ref={canvas} aria-hidden="true" />
      <svg
        ref={box}
        class={`graph ${isFar && pointed ? "is-pointing" : ""}`}
        tabindex={0}
        role="group"
        aria-label={isFar ? `${name} Zoom in to use the nodes, or go to one by its name.` : name}
        onKeyDown={(event) => moved(event, eye, size, setEye, fit)}
        {...pan}
        onPointerMove={(event) => {
          pan.onPointerMove(event);
          const found = nodeAt(event);
          if (found?.node !== pointed?.node) point(found);
        }}
        onPointerLeave={() => point(undefined)}
      >
        {laid && (
          <g transform={`translate(${-eye.x * eye.scale} ${-eye.y * eye.scale}) scale(${eye.scale})`}>
            {!isFar &&
              frames.map((each, at) => (
                <g class="module-frame" aria-hidden="true" data-module={each.module} key={at}>
                  <rect x={each.left} y={each.top} width={each.right - each.left} height={each.bottom - each.top} rx="8" />
                  <text x={each.left + 8} y={(each.level % 2 ? each.bottom : each.top) + 3}>
                    {each.module.replace(/^.*\bmodule\./, "")}
                  </text>
                </g>
              ))}
            {!isFar && inSight.map((each) => <Shape key={picture.nodes[each].id} node={picture.nodes[each]} label={labels[each]} x={laid.x[each]} y={laid.y[each]} size={sizes[each]} mark={marks[each]} graph={graph} onOpen={open} />)}
          </g>
        )}
      </svg>
      {isFar && pointed && (
        <p class="pointed address" style={{ left: `${Math.min(pointed.x + 14, size.width - 200)}px`, top: `${pointed.y + 14}px` }}>
          {picture.nodes[pointed.node]?.label}
        </p>
      )}
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
      {isFolded && <p class="hint">More than {MOST_DRAWN} nodes: modules and types are folded. Open one to see what is in it.</p>}
    </div>
  );
}

export type Mark = "" | "is-selected" | "is-dim";

/** Which nodes are selected, and which are not what is meant. */
function marksOf(picture: Drawn, selected?: number, targeted?: Set<number>): Mark[] {
  return picture.nodes.map((node) => {
    if (selected !== undefined && node.members.includes(selected)) return "is-selected";
    return !targeted || node.members.some((each) => targeted.has(each)) ? "" : "is-dim";
  });
}

/** The nodes that can be seen. */
function seen(laid: Laid, sizes: [number, number][], eye: Eye, size: Size): number[] {
  const right = eye.x + size.width / eye.scale;
  const bottom = eye.y + size.height / eye.scale;
  const found: number[] = [];
  for (let at = 0; at < sizes.length; at++) {
    const [wide, high] = [sizes[at][0] / 2, sizes[at][1] / 2];
    const [x, y] = [laid.x[at], laid.y[at]];
    if (x - wide <= right && y - high <= bottom && x + wide >= eye.x && y + high >= eye.y) found.push(at);
  }
  return found;
}

function at(nodes: number[], laid: Laid, sizes: [number, number][], x: number, y: number): number | undefined {
  return nodes.find((each) => Math.abs(laid.x[each] - x) <= sizes[each][0] / 2 && Math.abs(laid.y[each] - y) <= sizes[each][1] / 2 + 4);
}

/** A canvas on which everything is painted that cannot be used. */
function usePaint(painted: Painted | undefined): { current: HTMLCanvasElement | null } {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, again] = useState(0);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => again((known) => known + 1);
    scheme.addEventListener("change", follow);
    return () => scheme.removeEventListener("change", follow);
  }, []);
  useLayoutEffect(() => {
    if (canvas.current && painted) paint(canvas.current, painted);
  });
  return canvas;
}

function Shape({ node, label, x, y, size, mark, graph, onOpen }: { node: DrawnNode; label: string; x: number; y: number; size: [number, number]; mark: Mark; graph: Graph; onOpen: (node: DrawnNode) => void }): VNode {
  const [width, height] = size;
  const name = `${node.kind.replace("-", " ")} ${graph.nodes[node.members[0]].address}`;
  return (
    <g
      class={`node kind-${node.kind} ${mark} ${node.opens ? "is-group" : ""}`}
      transform={`translate(${x - width / 2} ${y - height / 2})`}
      role="button"
      tabindex={0}
      aria-label={node.opens ? `Open ${node.label}, ${count(node.members.length, "node")}` : name.includes(label) ? name : `${name}, ${label}`}
      onClick={() => onOpen(node)}
      onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), event.stopPropagation(), onOpen(node))}
    >
      <title>{node.opens ? node.label : graph.nodes[node.members[0]].address}</title>
      {node.opens && <rect class="node-behind" x="3" y="3" width={width} height={height} rx="6" />}
      <rect class="node-box" width={width} height={height} rx="6" />
      <rect class="node-side" width="4" height={height - 10} x="5" y="5" rx="2" />
      <text x="16" y={height / 2 + 4}>
        {label}
      </text>
    </g>
  );
}

function moved(event: KeyboardEvent, eye: Eye, size: Size, setEye: (eye: Eye) => void, fit: () => void): void {
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

const NARROW = 600;

/** What stands in front of the picture at its edges. */
interface Insets {
  right: number;
  bottom: number;
}

function fitted(bounds: Bounds, size: Size, insets: Insets): Eye {
  const [width, height] = [size.width - insets.right, size.height - insets.bottom];
  const scale = Math.min(1, (width - 2 * MARGIN) / bounds.width, (height - 2 * MARGIN) / bounds.height);
  const used = Math.max(scale, 0.02);
  return { scale: used, x: bounds.left - (width / used - bounds.width) / 2, y: bounds.top - (height / used - bounds.height) / 2 };
}

/** All of it if that can be read or is too much to read; otherwise what is selected, or where it begins. */
function opening(bounds: Bounds, size: Size, insets: Insets, laid: Laid, picture: Drawn, selected?: number): Eye {
  const all = fitted(bounds, size, insets);
  if (all.scale >= 0.5) return all;
  const at = selected === undefined ? -1 : picture.nodes.findIndex((each) => each.members.includes(selected));
  const scale = 0.75;
  if (at < 0 && picture.nodes.length > MOST_SHAPES) return all;
  if (at >= 0) return { scale, x: laid.x[at] - size.width / scale / 2, y: laid.y[at] - size.height / scale / 2 };
  const near = Math.max(all.scale, 0.5);
  const [seen, first] = [size.height / near, beginning(picture)];
  const top = Math.min(laid.y[first] - seen / 2, bounds.top + bounds.height + MARGIN - seen);
  const left = Math.max(MARGIN, (size.width / near - bounds.width) / 2);
  return { scale: near, x: bounds.left - left, y: Math.max(bounds.top - MARGIN, top) };
}

/** The node that most of a graph comes after: of those that need nothing the one with the most edges. */
function beginning(picture: Drawn): number {
  const followers = new Int32Array(picture.nodes.length);
  for (const [from] of picture.edges) followers[from]++;
  const needs = new Set(picture.edges.map(([, to]) => to));
  let found = 0;
  followers.forEach((number, at) => !needs.has(at) && (needs.has(found) || number > followers[found]) && (found = at));
  return found;
}

function zoomed(eye: Eye, by: number, x: number, y: number): Eye {
  const scale = Math.min(3, Math.max(0.02, eye.scale * by));
  return { scale, x: eye.x + x / eye.scale - x / scale, y: eye.y + y / eye.scale - y / scale };
}

function usePan(eye: Eye, setEye: (eye: Eye) => void, box: { current: SVGSVGElement | null }, onClick: (event: PointerEvent) => void) {
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
    onPointerUp: (event: PointerEvent) => {
      if (from.current && !from.current.moved) onClick(event);
      from.current = undefined;
    },
  };
}

