// The frame of the page: which view is shown, how it is searched, and in which colours.
import { render } from "preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApplyView } from "./apply";
import { Configuration } from "./configuration";
import { doc, isLive } from "./document";
import type { Events } from "./events";
import { isEarlier, isOfTests, isRunning, useEvents } from "./events";
import { FleetView } from "./fleet";
import { GraphView } from "./graph";
import { PlanView } from "./plan";
import { Problems } from "./problems";
import type { Route } from "./route";
import { href, useRoute } from "./route";
import { Search } from "./search";
import { Source } from "./source";
import { TestsView } from "./tests";
import type { Theme } from "./theme";
import { applyTheme, savedTheme } from "./theme";
import { Icon } from "./ui";

interface View {
  name: string;
  title: string;
  show: (route: Route) => VNode;
  number?: number;
  isRunning?: boolean;
}

function applyTitle(events: Events): string {
  if (isEarlier(events)) return "Earlier apply";
  return isRunning(events) || doc.plan || doc.applies || !events.all.length ? "Apply" : "Last apply";
}

const hasConfiguration = doc.configuration.modules.length > 0;

function viewsOf(events: Events): View[] {
  const hasTests = isOfTests(events.all);
  const hasApply = !hasTests && !doc.fleet && (isLive || events.all.length > 0);
  const all: (View | false | undefined)[] = [
    doc.plan && { name: "plan", title: "Plan", show: (route) => <PlanView route={route} />, number: doc.plan.changes.length },
    hasApply && { name: "apply", title: applyTitle(events), show: (route) => <ApplyView route={route} events={events} />, isRunning: isRunning(events) },
    hasTests && { name: "tests", title: "Tests", show: (route) => <TestsView route={route} events={events} /> },
    doc.fleet && { name: "fleet", title: "Fleet", show: (route) => <FleetView route={route} events={events} />, number: doc.fleet.units.length },
    hasConfiguration && { name: "configuration", title: "Configuration", show: (route) => <Configuration route={route} /> },
    { name: "graph", title: "Graph", show: (route) => <GraphView route={route} events={events} /> },
    hasConfiguration && { name: "source", title: "Source", show: (route) => <Source route={route} /> },
    doc.problems.length > 0 && { name: "problems", title: "Problems", show: () => <Problems />, number: doc.problems.length },
  ];
  return all.filter((each): each is View => !!each);
}

const moment = (at: string): string => new Date(at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

/** When and where the page was made, and from what. */
function Made(): VNode | null {
  const { made } = doc;
  if (!made) return null;
  return (
    <section class="made" aria-label="This page">
      <dl class="facts">
      <div>
        <dt>{made.planned ? "Planned" : "Made"}</dt>
        <dd>
          <time dateTime={made.planned ?? made.at}>{moment(made.planned ?? made.at)}</time>
        </dd>
      </div>
      {!doc.fleet && (
        <div>
          <dt>Workspace</dt>
          <dd>{doc.workspace}</dd>
        </div>
      )}
      {doc.environment && (
        <div>
          <dt>Environment</dt>
          <dd>{doc.environment}</dd>
        </div>
      )}
      {made.commit && (
        <div>
          <dt>Commit</dt>
          <dd>
            <code title={made.commit}>{made.commit.slice(0, 10)}</code>
            {made.is_changed && <span class="tag tag-warn">with uncommitted changes</span>}
          </dd>
        </div>
      )}
      {made.command && (
        <div>
          <dt>Command</dt>
          <dd>
            <code>{made.command}</code>
          </dd>
        </div>
      )}
      </dl>
    </section>
  );
}

const THEMES: Theme[] = ["auto", "light", "dark"];
const THEME_ICONS: Record<Theme, string> = { auto: "auto", light: "sun", dark: "moon" };

function Page(): VNode {
  const route = useRoute();
  const [searches, search] = useState(false);
  const [theme, setTheme] = useState<Theme>(savedTheme);
  const events = useEvents();
  const views = viewsOf(events);
  // Whoever follows something wants to see that first; a plan that waits for approval is read before.
  const latest = events.all.findLast((each) => each.type === "plan" || each.type === "apply_start");
  const follows = doc.applies && (!doc.number || latest?.type === "apply_start");
  const first = views.find((each) => (follows || each.isRunning) && (each.name === "apply" || each.name === "tests")) ?? views[0];
  const view = views.find((each) => each.name === route.view) ?? first;
  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    document.title = `${view.title} · ${doc.title} · Nigari`;
  }, [view.name]);
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
          {views.map((each) => (
            <a key={each.name} href={href(each.name)} aria-current={each === view ? "page" : undefined}>
              {each.title}
              {each.isRunning && <span class="live-dot" role="img" aria-label="running" />}
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
      <Made />
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
