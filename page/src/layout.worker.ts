// Lays a graph out in layers, away from the page so that nothing stands still meanwhile.
import { coordGreedy, decrossTwoLayer, graphStratify, layeringLongestPath, sugiyama, twolayerAgg } from "d3-dag";
import { layered, layersOf } from "./layered";
import type { Laid, LayoutRequest } from "./layout";

const GAP = 14;
const LAYER_GAP = 70;
/** Up to so many nodes, and bends of edges, are laid out with the best order in each layer. */
const MOST_POINTS = 700;

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
  const places = new Map<number, number>();
  const inner = numbers.map((at) => edges[at].map((node) => {
    if (!places.has(node)) places.set(node, places.size);
    return places.get(node)!;
  }) as [number, number]);
  const nodes = [...places.keys()];
  const layer = layersOf(nodes.length, inner);
  const points = layer ? inner.reduce((sum, [from, to]) => sum + layer[to] - layer[from] - 1, nodes.length) : 0;
  // To find the best order takes a time that grows with the square of the points.
  const found = layer && points > MOST_POINTS ? quickly(nodes, sizes, inner, layer, picture) : carefully(nodes, numbers, sizes, edges, picture);
  return { nodes, edges: numbers, ...found };
}

function quickly(nodes: number[], sizes: [number, number][], edges: [number, number][], layer: Int32Array, picture: Laid): { width: number; height: number } {
  const all = { widths: Float64Array.from(nodes, (at) => sizes[at][0]), heights: Float64Array.from(nodes, (at) => sizes[at][1]) };
  const found = layered(all, edges, layer, GAP, LAYER_GAP * 2);
  nodes.forEach((at, number) => {
    picture.x[at] = found.x[number];
    picture.y[at] = found.y[number];
  });
  return found;
}

function carefully(nodes: number[], numbers: number[], sizes: [number, number][], edges: [number, number][], picture: Laid): { width: number; height: number } {
  const needs = new Map<number, number[]>(nodes.map((at) => [at, []]));
  const byEnds = new Map<string, number>();
  for (const at of numbers) {
    const [from, to] = edges[at];
    byEnds.set(`${from} ${to}`, at);
    needs.get(to)!.push(from);
  }
  const graph = graphStratify()(nodes.map((at) => ({ id: String(at), parentIds: needs.get(at)!.map(String) })));
  const layout = sugiyama()
    .nodeSize((node: { data: { id: string } }) => {
      const [wide, high] = sizes[Number(node.data.id)];
      return [high, wide] as [number, number];
    })
    .gap([GAP, LAYER_GAP])
    .layering(layeringLongestPath())
    .decross(decrossTwoLayer().order(twolayerAgg()).passes(nodes.length > 300 ? 4 : 12))
    .coord(coordGreedy());
  const size = layout(graph as never);
  // Layers are columns here, so that names can be read.
  for (const node of graph.nodes()) {
    const at = Number(node.data.id);
    picture.x[at] = node.y;
    picture.y[at] = node.x;
  }
  for (const link of graph.links()) {
    const [one, other] = [link.source.data.id, link.target.data.id];
    const at = byEnds.get(`${one} ${other}`) ?? byEnds.get(`${other} ${one}`);
    if (at !== undefined) picture.routes[at] = link.points.flatMap(([across, along]) => [along, across]);
  }
  return { width: size.height, height: size.width };
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
