// Lays a graph out in layers, away from the page so that nothing stands still meanwhile.
import { coordGreedy, decrossTwoLayer, graphStratify, layeringLongestPath, sugiyama, twolayerAgg } from "d3-dag";
import type { Laid, LayoutRequest } from "./layout";

const GAP = 14;
const LAYER_GAP = 70;

onmessage = (event: MessageEvent<LayoutRequest>) => {
  postMessage(laid(event.data));
};

function laid({ number, sizes, edges }: LayoutRequest): Laid {
  const needs: number[][] = sizes.map(() => []);
  const has = new Uint8Array(sizes.length);
  for (const [from, to] of edges) {
    needs[to].push(from);
    has[from] = has[to] = 1;
  }
  const x = new Float64Array(sizes.length);
  const y = new Float64Array(sizes.length);
  const routes: number[][] = edges.map(() => []);
  const linked = sizes.flatMap((_, at) => (has[at] ? [at] : []));
  let [width, height] = [0, 0];
  if (linked.length) {
    const graph = graphStratify()(linked.map((at) => ({ id: String(at), parentIds: needs[at].map(String) })));
    const passes = linked.length > 1500 ? 1 : linked.length > 500 ? 4 : 12;
    const layout = sugiyama()
      .nodeSize((node: { data: { id: string } }) => {
        const [wide, high] = sizes[Number(node.data.id)];
        return [high, wide] as [number, number];
      })
      .gap([GAP, LAYER_GAP])
      .layering(layeringLongestPath())
      .decross(decrossTwoLayer().order(twolayerAgg()).passes(passes))
      .coord(coordGreedy());
    const size = layout(graph as never);
    // Layers are columns here, so that names can be read.
    [width, height] = [size.height, size.width];
    for (const node of graph.nodes()) {
      const at = Number(node.data.id);
      x[at] = node.y;
      y[at] = node.x;
    }
    const numbers = new Map(edges.map(([from, to], at) => [`${from} ${to}`, at]));
    for (const link of graph.links()) {
      const key = `${link.source.data.id} ${link.target.data.id}`;
      const back = `${link.target.data.id} ${link.source.data.id}`;
      const at = numbers.get(key) ?? numbers.get(back);
      if (at !== undefined) routes[at] = link.points.flatMap(([across, along]) => [along, across]);
    }
  }
  place(sizes, has, x, y, width, height);
  return { number, x, y, routes };
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
