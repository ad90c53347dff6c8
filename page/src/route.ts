// Addresses within the page: everything that can be looked at has one, after the #.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  /** What follows the name of the view. */
  rest: string;
  options: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const slash = path.indexOf("/");
  const view = slash < 0 ? path : path.slice(0, slash);
  const rest = slash < 0 ? "" : decodeURIComponent(path.slice(slash + 1));
  return { view, rest, options: new URLSearchParams(query) };
}

export function href(view: string, rest = "", options: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${view}${rest ? `/${encodeURIComponent(rest)}` : ""}${text ? `?${text}` : ""}`;
}

export function go(to: string, replaces = false): void {
  if (to === location.hash) return;
  if (replaces) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = to;
  }
}

/** The same view with some options changed; an empty one is left out. */
export function change(route: Route, options: Record<string, string | undefined>, replaces = true): void {
  const all: Record<string, string | undefined> = Object.fromEntries(route.options);
  go(href(route.view, route.rest, { ...all, ...options }), replaces);
}

export function useRoute(): Route {
  const [route, set] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = () => set(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
