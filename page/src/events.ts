// The events of an apply or a test: those that came with the page, and those that come while it is open.
import { useEffect, useState } from "preact/hooks";
import type { ApplyEvent } from "./document";
import { doc, isLive } from "./document";

export type Link = "following" | "ended" | "lost";

export interface Events {
  all: ApplyEvent[];
  link: Link;
}

export function useEvents(): Events {
  const [all, set] = useState<ApplyEvent[]>(doc.events ?? []);
  const [link, setLink] = useState<Link>(isLive ? "following" : "ended");
  useEffect(() => {
    if (!isLive) return;
    const source = new EventSource("events");
    let waiting: ApplyEvent[] = [];
    let timer = 0;
    const flush = () => {
      timer = 0;
      const found = waiting;
      waiting = [];
      set((known) => [...known, ...found]);
    };
    source.onmessage = (event) => {
      const found: ApplyEvent = JSON.parse(event.data);
      // Another plan is applied now, of which the page knows nothing yet.
      if (found.type === "page" && (found.number ?? 0) > (doc.number ?? 0)) location.reload();
      waiting.push(found);
      // Many at once are drawn once.
      timer ||= window.setTimeout(flush, 50);
    };
    source.addEventListener("end", () => {
      source.close();
      setLink("ended");
    });
    source.onerror = () => {
      source.close();
      setLink("lost");
    };
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, []);
  return { all, link };
}

export const isOfTests = (events: ApplyEvent[]): boolean => events.some((each) => each.type.startsWith("test_"));

/** Whether what is shown of an apply was before the plan of this page was made. */
export function isEarlier({ all }: Events): boolean {
  const begun = all.findLast((each) => each.type === "apply") ?? all.find((each) => each.type === "apply_start");
  const planned = doc.made?.planned;
  return !!begun && !!planned && begun.at < Date.parse(planned) / 1000;
}

/** Whether an apply goes on that is followed here. */
export function isRunning({ all, link }: Events): boolean {
  if (link !== "following") return false;
  for (let at = all.length - 1; at >= 0; at--) {
    if (["end", "stopped", "plan"].includes(all[at].type)) return false;
    if (all[at].type === "apply_start") return true;
  }
  return false;
}
