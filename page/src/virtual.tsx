// A list of any length of which only what can be seen is in the page. Rows may have any height.
import type { ComponentChildren, VNode } from "preact";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

interface Props<T> {
  items: readonly T[];
  /** Rows with the same key keep their height. */
  keyOf: (item: T) => string;
  estimate: (item: T) => number;
  render: (item: T, index: number) => ComponentChildren;
  label: string;
  /** The key of the row to bring into view. */
  reveal?: string;
  /** Changes whenever the revealed row is to be brought into view once more. */
  class?: string;
}

const MARGIN = 600;

export function Virtual<T>(props: Props<T>): VNode {
  const { items, keyOf, estimate, render, label, reveal } = props;
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const [measured, remeasure] = useState(0);
  const [view, setView] = useState({ top: 0, height: 900 });

  const tops = useMemo(() => {
    const found = new Float64Array(items.length + 1);
    for (let at = 0; at < items.length; at++) {
      found[at + 1] = found[at] + (heights.current.get(keyOf(items[at])) ?? estimate(items[at]));
    }
    return found;
  }, [items, measured]);

  const follow = useCallback(() => {
    const element = box.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  }, []);
  useLayoutEffect(() => {
    follow();
    const observer = new ResizeObserver(follow);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, rowAt(tops, view.top - MARGIN));
  const last = Math.min(items.length, rowAt(tops, view.top + view.height + MARGIN) + 1);

  // What has another height than was thought is measured after it is drawn, before it is seen.
  useLayoutEffect(() => {
    const rows = box.current?.querySelectorAll<HTMLElement>(":scope > .virtual-space > .virtual-row");
    let changed = false;
    rows?.forEach((row) => {
      const key = row.dataset.key!;
      const height = row.offsetHeight;
      if (heights.current.get(key) !== height) {
        heights.current.set(key, height);
        changed = true;
      }
    });
    if (changed) remeasure((count) => count + 1);
  });

  const revealed = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (!reveal || revealed.current === reveal) return;
    const at = items.findIndex((item) => keyOf(item) === reveal);
    if (at < 0 || !box.current) return;
    revealed.current = reveal;
    const { scrollTop, clientHeight } = box.current;
    if (tops[at] < scrollTop || tops[at + 1] > scrollTop + clientHeight) {
      box.current.scrollTop = Math.max(0, tops[at] - clientHeight / 4);
    }
  }, [reveal, items]);

  const shown = [];
  for (let at = first; at < last; at++) {
    const key = keyOf(items[at]);
    shown.push(
      <div class="virtual-row" role="listitem" aria-posinset={at + 1} aria-setsize={items.length} key={key} data-key={key}>
        {render(items[at], at)}
      </div>,
    );
  }
  return (
    <div class={`virtual ${props.class ?? ""}`} ref={box} onScroll={follow} tabIndex={0} role="region" aria-label={label}>
      <div class="virtual-space" role="list" style={{ height: `${tops[items.length]}px`, paddingTop: `${tops[first]}px` }}>
        {shown}
      </div>
    </div>
  );
}

/** The row at a height. */
function rowAt(tops: Float64Array, top: number): number {
  let low = 0;
  let high = tops.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle + 1] > top) high = middle;
    else low = middle + 1;
  }
  return low;
}
