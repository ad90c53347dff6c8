// Asks the layout worker, and drops answers to questions that are no longer asked.
import { useEffect, useState } from "preact/hooks";

export interface LayoutRequest {
  number: number;
  sizes: [width: number, height: number][];
  edges: [from: number, to: number][];
}

export interface Laid {
  number: number;
  x: Float64Array;
  y: Float64Array;
  /** For each edge the points on its way: x, y, x, y, … */
  routes: number[][];
}

declare const LAYOUT_WORKER: string;

let asked = 0;

export function useLayout(sizes: [number, number][], edges: [number, number][]): Laid | undefined {
  const [found, set] = useState<{ of: unknown; laid: Laid }>();
  useEffect(() => {
    const number = ++asked;
    // A worker that is still at work on an older question is ended with it.
    const url = URL.createObjectURL(new Blob([LAYOUT_WORKER], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = (event: MessageEvent<Laid>) => {
      if (event.data.number === number) set({ of: sizes, laid: event.data });
      worker.terminate();
    };
    worker.postMessage({ number, sizes, edges } satisfies LayoutRequest);
    return () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    };
  }, [sizes, edges]);
  return found?.of === sizes ? found.laid : undefined;
}
