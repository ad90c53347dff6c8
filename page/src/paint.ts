// Paints a graph on a canvas: its edges, and its nodes where there are too many to be elements.
import type { Drawn } from "./graph-model";
import type { Laid } from "./layout";

export interface Eye {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Painted {
  picture: Drawn;
  laid: Laid;
  sizes: [number, number][];
  eye: Eye;
  size: Size;
  /** What each node is marked with: nothing, as selected, or as not meant. */
  marks: string[];
  /** The nodes that are to be painted. */
  nodes: number[];
}

const DIM = 0.22;
/** From this far away bends and arrows cannot be seen. */
const FAR = 0.25;

export function paint(canvas: HTMLCanvasElement, painted: Painted): void {
  const { eye, size } = painted;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  const brush = canvas.getContext("2d")!;
  const zoom = eye.scale * ratio;
  brush.setTransform(zoom, 0, 0, zoom, -eye.x * zoom, -eye.y * zoom);
  const colours = new Colours(canvas);
  paintEdges(brush, painted, colours);
  paintNodes(brush, painted, colours);
}

/** The colours of the style sheet. */
class Colours {
  private readonly found = new Map<string, string>();
  constructor(private readonly canvas: HTMLCanvasElement) {}

  variable(name: string): string {
    return getComputedStyle(this.canvas).getPropertyValue(name).trim();
  }

  kind(kind: string): string {
    let colour = this.found.get(kind);
    if (colour === undefined) {
      const probe = document.createElement("i");
      probe.className = `kind-${kind}`;
      this.canvas.parentElement!.append(probe);
      colour = getComputedStyle(probe).getPropertyValue("--kind").trim() || this.variable("--muted");
      probe.remove();
      this.found.set(kind, colour);
    }
    return colour;
  }
}

function paintEdges(brush: CanvasRenderingContext2D, { picture, laid, sizes, eye, size, marks }: Painted, colours: Colours): void {
  const right = eye.x + size.width / eye.scale;
  const bottom = eye.y + size.height / eye.scale;
  const isFar = eye.scale < FAR;
  const styles = { "": { ways: new Path2D(), tips: new Path2D() }, near: { ways: new Path2D(), tips: new Path2D() }, dim: { ways: new Path2D(), tips: new Path2D() } };
  picture.edges.forEach(([from, to], at) => {
    const [x1, y1] = [laid.x[from] + sizes[from][0] / 2, laid.y[from]];
    const [x2, y2] = [laid.x[to] - sizes[to][0] / 2, laid.y[to]];
    if (Math.min(x1, x2) > right || Math.max(x1, x2) < eye.x || Math.min(y1, y2) > bottom || Math.max(y1, y2) < eye.y) return;
    const isNear = marks[from] === "is-selected" || marks[to] === "is-selected";
    const { ways, tips } = styles[isNear ? "near" : marks[from] === "is-dim" || marks[to] === "is-dim" ? "dim" : ""];
    ways.moveTo(x1, y1);
    if (isFar) {
      ways.lineTo(x2, y2);
      return;
    }
    follow(ways, x1, y1, x2, y2, laid.routes[at]);
    tips.moveTo(x2, y2);
    tips.lineTo(x2 - 8, y2 - 3.5);
    tips.lineTo(x2 - 8, y2 + 3.5);
    tips.closePath();
  });
  const plain = colours.variable("--line-strong");
  const accent = colours.variable("--accent");
  // Many thin lines are a fog: the further away, the fainter each.
  const faint = isFar ? Math.max(0.25, eye.scale / FAR) : 1;
  const draw = (style: keyof typeof styles, colour: string, width: number, alpha: number) => {
    brush.globalAlpha = alpha;
    brush.strokeStyle = brush.fillStyle = colour;
    brush.lineWidth = isFar ? 1 / eye.scale : width;
    brush.stroke(styles[style].ways);
    brush.fill(styles[style].tips);
  };
  draw("dim", plain, 1.2, DIM * faint);
  draw("", plain, 1.2, faint);
  draw("near", accent, 1.8, 1);
  brush.globalAlpha = 1;
}

/** A smooth way from one side to the other, through the points between them. */
function follow(path: Path2D, x1: number, y1: number, x2: number, y2: number, points: number[]): void {
  const inner: [number, number][] = [];
  for (let at = 2; at + 3 < points.length; at += 2) inner.push([points[at], points[at + 1]]);
  if (inner.length && Math.sign(inner[inner.length - 1][0] - inner[0][0] || 1) !== Math.sign(x2 - x1)) inner.reverse();
  let [x, y] = [x1, y1];
  for (const [nextX, nextY] of [...inner, [x2, y2]]) {
    const middle = (x + nextX) / 2;
    path.bezierCurveTo(middle, y, middle, nextY, nextX, nextY);
    [x, y] = [nextX, nextY];
  }
}

function paintNodes(brush: CanvasRenderingContext2D, { picture, laid, sizes, eye, marks, nodes }: Painted, colours: Colours): void {
  const accent = colours.variable("--accent");
  for (const at of nodes) {
    const [width, height] = sizes[at];
    brush.globalAlpha = marks[at] === "is-dim" ? DIM : 1;
    brush.fillStyle = colours.kind(picture.nodes[at].kind);
    brush.fillRect(laid.x[at] - width / 2, laid.y[at] - height / 2, width, height);
    if (marks[at] === "is-selected") {
      brush.strokeStyle = accent;
      brush.lineWidth = 3 / eye.scale;
      brush.strokeRect(laid.x[at] - width / 2, laid.y[at] - height / 2, width, height);
    }
  }
  brush.globalAlpha = 1;
}
