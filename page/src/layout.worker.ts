// Lays a graph out in layers, away from the page so that nothing stands still meanwhile.
import type { SugiNode, SugiSeparation } from "d3-dag";
import { coordCenter, coordGreedy, decrossDfs, decrossTwoLayer, graphStratify, layeringLongestPath, sugiyama, twolayerAgg } from "d3-dag";
import type { Laid, LayoutRequest } from "./layout";

const GAP = 14;
const LAYER_GAP = 70;
/** Up to so many nodes, and bends of edges, are laid out as well as can be; that takes a time that grows with their square. */
const MOST_POINTS = 700;
const SWEEPS = 3;

type Layers = SugiNode<unknown, unknown>[][];
const isLarge = (layers: Layers): boolean => layers.reduce((sum, each) => sum + each.length, 0) > MOST_POINTS;
const best = decrossTwoLayer().order(twolayerAgg()).passes(8);
const means = twolayerAgg();

function decross(layers: Layers): void {
  if (!isLarge(layers)) return best(layers);
  // The same sweeps without counting what crosses after each of them.
  decrossDfs()(layers);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (let at = 1; at < layers.length; at++) means(layers[at - 1], layers[at], true);
    for (let at = layers.length - 1; at > 0; at--) means(layers[at - 1], layers[at], false);
  }
}

function coord<N, L>(layers: SugiNode<N, L>[][], separation: SugiSeparation<N, L>): number {
  return (isLarge(layers) ? coordCenter() : coordGreedy())(layers, separation);
}

onmessage = (event: MessageEvent<LayoutRequest>) => {
  postMessage(laid(event.data));
};

function laid({ number, sizes, edges }: LayoutRequest): Laid {
  const picture: Laid = {
    number,
    x: new Float64Array(sizes.length),
    y: new Float64Array(sizes.length),
    routes: edges.map(() => []),
  };
  const has = new Uint8Array(sizes.length);
  for (const [from, to] of edges) has[from] = has[to] = 1;
  // What is not connected is laid out by itself: the work grows faster than the graph.
  const groups = connected(sizes.length, edges).map((numbers) => group(numbers, sizes, edges, picture));
  const [width, height] = packed(groups, picture);
  place(sizes, has, picture.x, picture.y, width, height);
  return picture;
}

interface Group {
  nodes: number[];
  edges: number[];
  width: number;
  height: number;
}

/** The numbers of the edges of each connected group of nodes. */
function connected(size: number, edges: [number, number][]): number[][] {
  const leader = Int32Array.from({ length: size }, (_, at) => at);
  const find = (at: number): number => {
    while (leader[at] !== at) at = leader[at] = leader[leader[at]];
    return at;
  };
  for (const [from, to] of edges) leader[find(from)] = find(to);
  const found = new Map<number, number[]>();
  edges.forEach(([from], at) => {
    const group = found.get(find(from));
    if (group) group.push(at);
    else found.set(find(from), [at]);
  });
  return [...found.values()];
}

/** One group in layers, beginning at the origin. */
function group(numbers: number[], sizes: [number, number][], edges: [number, number][], picture: Laid): Group {
  const needs = new Map<number, number[]>();
  const byEnds = new Map<string, number>();
  for (const at of numbers) {
    const [from, to] = edges[at];
    byEnds.set(`${from} ${to}`, at);
    if (!needs.has(from)) needs.set(from, []);
    if (!needs.has(to)) needs.set(to, []);
    needs.get(to)!.push(from);
  }
  const nodes = [...needs.keys()];
  const graph = graphStratify()(nodes.map((at) => ({ id: String(at), parentIds: needs.get(at)!.map(String) })));
  const layout = sugiyama()
    .nodeSize((node: { data: { id: string } }) => {
      const [wide, high] = sizes[Number(node.data.id)];
      return [high, wide] as [number, number];
    })
    .gap([GAP, LAYER_GAP])
    .layering(layeringLongestPath())
    .decross(decross)
    .coord(coord);
  const size = layout(graph as never);
  // Layers are columns here, so that names can be read.
  for (const node of graph.nodes()) {
    const at = Number(node.data.id);
    picture.x[at] = node.y;
    picture.y[at] = node.x;
  }
  const links = [...graph.links()];
  // Thousands of edges with bends would take too long to paint while the picture moves.
  const isPlain = links.reduce((sum, each) => sum + each.points.length - 2, nodes.length) > MOST_POINTS;
  for (const link of isPlain ? [] : links) {
    const [one, other] = [link.source.data.id, link.target.data.id];
    const at = byEnds.get(`${one} ${other}`) ?? byEnds.get(`${other} ${one}`);
    if (at !== undefined) picture.routes[at] = link.points.flatMap(([across, along]) => [along, across]);
  }
  const whole = { nodes, edges: numbers, width: size.height, height: size.width };
  return wrapped(whole, sizes, picture);
}

/** A group whose columns are far too high for a picture gets several for each of those. */
function wrapped(whole: Group, sizes: [number, number][], picture: Laid): Group {
  const columns = new Map<number, number[]>();
  for (const at of whole.nodes) {
    const column = columns.get(picture.x[at]);
    if (column) column.push(at);
    else columns.set(picture.x[at], [at]);
  }
  const most = Math.max(40, Math.ceil(Math.sqrt(whole.nodes.length * 6)));
  if ([...columns.values()].every((each) => each.length <= most)) return whole;
  let [left, height] = [0, 0];
  for (const [, column] of [...columns].sort(([one], [other]) => one - other)) {
    column.sort((one, other) => picture.y[one] - picture.y[other]);
    const parts = Math.ceil(column.length / most);
    for (let part = 0; part < parts; part++) {
      const nodes = column.filter((_, at) => at % parts === part);
      const wide = Math.max(...nodes.map((at) => sizes[at][0]));
      let top = 0;
      for (const at of nodes) {
        [picture.x[at], picture.y[at]] = [left + wide / 2, top + sizes[at][1] / 2];
        top += sizes[at][1] + GAP;
      }
      left += wide + LAYER_GAP;
      height = Math.max(height, top - GAP);
    }
  }
  // Edges go straight to where the nodes are now.
  for (const at of whole.edges) picture.routes[at] = [];
  return { ...whole, width: left - LAYER_GAP, height };
}

const GROUP_GAP = 40;

/** Put groups in rows, the highest first; how much room they take. */
function packed(groups: Group[], picture: Laid): [number, number] {
  const area = groups.reduce((sum, each) => sum + (each.width + GROUP_GAP) * (each.height + GROUP_GAP), 0);
  const most = groups.reduce((widest, each) => Math.max(widest, each.width), Math.sqrt(area) * 1.5);
  let [left, top, high, wide] = [0, 0, 0, 0];
  for (const group of [...groups].sort((one, other) => other.height - one.height)) {
    if (left > 0 && left + group.width > most) [left, top, high] = [0, top + high + GROUP_GAP, 0];
    for (const at of group.nodes) {
      picture.x[at] += left;
      picture.y[at] += top;
    }
    for (const at of group.edges) picture.routes[at] = picture.routes[at].map((each, axis) => each + (axis % 2 ? top : left));
    left += group.width + GROUP_GAP;
    high = Math.max(high, group.height);
    wide = Math.max(wide, left - GROUP_GAP);
  }
  return [wide, groups.length ? top + high : 0];
}

/** What has no edges stands in rows below the rest. */
function place(sizes: [number, number][], has: Uint8Array, x: Float64Array, y: Float64Array, width: number, height: number): void {
  const alone = sizes.flatMap((_, at) => (has[at] ? [] : [at]));
  const columns = Math.max(3, Math.ceil(Math.sqrt(alone.length / 4)), Math.floor(width / 260));
  let [left, top] = [0, height ? height + 48 : 0];
  alone.forEach((at, number) => {
    if (number && number % columns === 0) [left, top] = [0, top + 34 + GAP];
    x[at] = left + sizes[at][0] / 2;
    y[at] = top + sizes[at][1] / 2;
    left += sizes[at][0] + GAP;
  });
}
