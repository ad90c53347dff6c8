// The frame of the page: which view is shown, how it is searched, and in which colours.
import { render } from "preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApplyView } from "./apply";
import { Configuration } from "./configuration";
import { doc, isLive } from "./document";
import { GraphView } from "./graph";
import { PlanView } from "./plan";
import { Problems } from "./problems";
import type { Route } from "./route";
import { href, useRoute } from "./route";
import { Search } from "./search";
import { Source } from "./source";
import type { Theme } from "./theme";
import { applyTheme, savedTheme } from "./theme";
import { Icon } from "./ui";

interface View {
  name: string;
  title: string;
  show: (route: Route) => VNode;
  number?: number;
}

const hasApply = isLive || (doc.events?.length ?? 0) > 0;
const VIEWS: View[] = [
  ...(doc.plan ? [{ name: "plan", title: "Plan", show: (route: Route) => <PlanView route={route} />, number: doc.plan.changes.length }] : []),
  ...(hasApply ? [{ name: "apply", title: "Apply", show: (route: Route) => <ApplyView route={route} /> }] : []),
  { name: "configuration", title: "Configuration", show: (route) => <Configuration route={route} /> },
  { name: "graph", title: "Graph", show: (route) => <GraphView route={route} /> },
  { name: "source", title: "Source", show: (route) => <Source route={route} /> },
  ...(doc.problems.length ? [{ name: "problems", title: "Problems", show: () => <Problems />, number: doc.problems.length }] : []),
];

const THEMES: Theme[] = ["auto", "light", "dark"];
const THEME_ICONS: Record<Theme, string> = { auto: "auto", light: "sun", dark: "moon" };

function Page(): VNode {
  const route = useRoute();
  const [searches, search] = useState(false);
  const [theme, setTheme] = useState<Theme>(savedTheme);
  const view = VIEWS.find((each) => each.name === route.view) ?? (hasApply && isLive ? VIEWS.find((each) => each.name === "apply")! : VIEWS[0]);
  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    document.title = `${view.title} · ${doc.title} · Nigari`;
  }, [view]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping)) {
        event.preventDefault();
        search(true);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <header class="top">
        <a class="skip" href={href(view.name)} onClick={(event) => (event.preventDefault(), document.getElementById("content")?.focus())}>
          Skip to content
        </a>
        <div class="brand">
          <span class="brand-name" title={doc.title}>
            {doc.title}
          </span>
          {doc.workspace !== "default" && <span class="tag">{doc.workspace}</span>}
        </div>
        <nav class="tabs" aria-label="Views">
          {VIEWS.map((each) => (
            <a key={each.name} href={href(each.name)} aria-current={each === view ? "page" : undefined}>
              {each.title}
              {each.number !== undefined && <span class="count">{each.number.toLocaleString("en")}</span>}
            </a>
          ))}
        </nav>
        <div class="top-end">
          <button class="search-button" onClick={() => search(true)} aria-label="Search" aria-keyshortcuts="/ Control+K">
            <Icon name="search" />
            <span class="search-words">Search</span>
            <kbd>/</kbd>
          </button>
          <button class="icon-button" onClick={() => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % 3])} aria-label={`Colours: ${theme}`} title={`Colours: ${theme}`}>
            <Icon name={THEME_ICONS[theme]} />
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <h1 class="hidden-text">
          {view.title} of {doc.title}
        </h1>
        {view.show(route)}
      </main>
      {searches && <Search onClose={() => search(false)} />}
    </>
  );
}

applyTheme(savedTheme());
const app = document.getElementById("app")!;
app.textContent = "";
render(<Page />, app);
requestAnimationFrame(() => performance.mark("shown"));
