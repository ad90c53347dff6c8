// Frames around the nodes of a module instance: as few as can be, with nothing else in them.
import { modulePath } from "./addresses";
import type { Drawn, Graph } from "./graph-model";
import type { Laid } from "./layout";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Frame extends Box {
  module: string;
  /** How many modules it is in: the names of nested frames must not cover each other. */
  level: number;
}

/** How far a frame is from what is in it; one that is around another is further away. */
const PAD = 5;

export function framesOf(graph: Graph, picture: Drawn, laid: Laid, sizes: [number, number][]): Frame[] {
  const boxes = sizes.map(([width, height], at): Box => ({ left: laid.x[at] - width / 2, right: laid.x[at] + width / 2, top: laid.y[at] - height / 2, bottom: laid.y[at] + height / 2 }));
  const paths = picture.nodes.map((node) => modulePath(graph.nodes[node.members[0]].module ?? ""));
  const depths = new Map<string, number>();
  for (const path of paths) path.forEach((module, at) => depths.set(module, Math.max(depths.get(module) ?? 0, path.length - at)));
  const found: Frame[] = [];
  for (const [module, depth] of depths) {
    const others = boxes.filter((_, at) => !paths[at].includes(module));
    const merged = mergedBoxes(boxes.filter((_, at) => paths[at].includes(module)), others);
    const pad = PAD * depth;
    for (const { left, top, right, bottom } of merged) found.push({ module, level: modulePath(module).length - 1, left: left - pad, top: top - pad, right: right + pad, bottom: bottom + pad });
  }
  return found;
}

/** Boxes put together as long as none of the others is between them. */
function mergedBoxes(boxes: Box[], others: Box[]): Box[] {
  const found: Box[] = [];
  for (let next of [...boxes].sort((one, other) => one.left - other.left || one.top - other.top)) {
    for (let at = 0; at < found.length; at++) {
      const both = around(found[at], next);
      if (others.some((each) => overlap(each, both))) continue;
      // What has grown may be put together with one from before.
      next = both;
      found.splice(at, 1);
      at = -1;
    }
    found.push(next);
  }
  return found;
}

const around = (one: Box, other: Box): Box => ({ left: Math.min(one.left, other.left), top: Math.min(one.top, other.top), right: Math.max(one.right, other.right), bottom: Math.max(one.bottom, other.bottom) });
const overlap = (one: Box, other: Box): boolean => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
