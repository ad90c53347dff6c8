// Lays a large graph out in layers, in a time that grows about as the graph does. Edges go straight
// from layer to layer: to lead them around the nodes between takes too long for thousands of them.

export interface Sizes {
  widths: Float64Array;
  heights: Float64Array;
}

/** The layer of each node, as few as possible: all that it needs is in earlier ones. */
export function layersOf(size: number, edges: [number, number][]): Int32Array | undefined {
  const followers = listed(size, edges, 0);
  const waiting = new Int32Array(size);
  for (const [, to] of edges) waiting[to]++;
  const layer = new Int32Array(size);
  const order: number[] = [];
  for (let at = 0; at < size; at++) if (!waiting[at]) order.push(at);
  for (let at = 0; at < order.length; at++) {
    for (const each of followers[order[at]]) {
      layer[each] = Math.max(layer[each], layer[order[at]] + 1);
      if (!--waiting[each]) order.push(each);
    }
  }
  if (order.length < size) return undefined;
  // What needs nothing stands right before whoever needs it.
  for (let at = order.length - 1; at >= 0; at--) {
    const node = order[at];
    if (layer[node] > 0 || !followers[node].length) continue;
    layer[node] = Math.min(...followers[node].map((each) => layer[each])) - 1;
  }
  return layer;
}

function listed(size: number, edges: [number, number][], end: 0 | 1): number[][] {
  const found: number[][] = Array.from({ length: size }, () => []);
  for (const edge of edges) found[edge[end]].push(edge[1 - end]);
  return found;
}

const SWEEPS = 6;

/** Positions of the middles of nodes, beginning at the origin; and how much room they take. */
export function layered(sizes: Sizes, edges: [number, number][], layer: Int32Array, gap: number, layerGap: number): { x: Float64Array; y: Float64Array; width: number; height: number } {
  const size = sizes.widths.length;
  const [before, after] = [listed(size, edges, 1), listed(size, edges, 0)];
  const columns = columnsOf(layer);
  const y = new Float64Array(size);
  for (const column of columns) spread(column, sizes, gap, y, (_, at) => at);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const [neighbours, way] = sweep % 2 ? [after, [...columns].reverse()] : [before, columns];
    for (const column of way) {
      const wanted = new Map(column.map((node) => [node, middle(neighbours[node], y) ?? y[node]]));
      column.sort((one, other) => wanted.get(one)! - wanted.get(other)!);
      spread(column, sizes, gap, y, (node) => wanted.get(node)!);
    }
  }
  return placed(columns, sizes, layerGap, y);
}

/** The layers as columns; what would be far too high for a picture becomes several. */
function columnsOf(layer: Int32Array): number[][] {
  const layers: number[][] = [];
  layer.forEach((each, node) => (layers[each] ??= []).push(node));
  const most = Math.max(40, Math.ceil(Math.sqrt(layer.length * 6)));
  return layers.flatMap((nodes) => {
    const parts = Math.ceil(nodes.length / most);
    return Array.from({ length: parts }, (_, part) => nodes.filter((_, at) => at % parts === part));
  });
}

function middle(neighbours: number[], y: Float64Array): number | undefined {
  if (!neighbours.length) return undefined;
  let sum = 0;
  for (const each of neighbours) sum += y[each];
  return sum / neighbours.length;
}

/** Put the nodes of a column as near to where they are wanted as their order and sizes allow. */
function spread(column: number[], { heights }: Sizes, gap: number, y: Float64Array, wanted: (node: number, at: number) => number): void {
  // Those that would overlap are moved together, as far as the mean of what they want.
  const starts: number[] = [];
  const counts: number[] = [];
  const sums: number[] = [];
  let offset = 0;
  const offsets = column.map((node) => {
    const found = offset + heights[node] / 2;
    offset += heights[node] + gap;
    return found;
  });
  column.forEach((node, at) => {
    starts.push(at);
    counts.push(1);
    sums.push(wanted(node, at) - offsets[at]);
    for (let last = sums.length - 1; last > 0 && sums[last - 1] / counts[last - 1] > sums[last] / counts[last]; last--) {
      sums[last - 1] += sums.pop()!;
      counts[last - 1] += counts.pop()!;
      starts.pop();
    }
  });
  starts.forEach((start, block) => {
    const base = sums[block] / counts[block];
    for (let at = start; at < start + counts[block]; at++) y[column[at]] = base + offsets[at];
  });
}

function placed(columns: number[][], { widths, heights }: Sizes, layerGap: number, y: Float64Array): { x: Float64Array; y: Float64Array; width: number; height: number } {
  const x = new Float64Array(widths.length);
  let [left, top, bottom] = [0, Infinity, -Infinity];
  for (const column of columns) {
    let wide = 0;
    for (const node of column) {
      wide = Math.max(wide, widths[node]);
      top = Math.min(top, y[node] - heights[node] / 2);
      bottom = Math.max(bottom, y[node] + heights[node] / 2);
    }
    for (const node of column) x[node] = left + wide / 2;
    left += wide + layerGap;
  }
  for (let at = 0; at < y.length; at++) y[at] -= top;
  return { x, y, width: left - layerGap, height: bottom - top };
}
