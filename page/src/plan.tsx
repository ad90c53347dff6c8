// The plan: what changes, by module, kind or type; alike changes as one; how and why.
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { KEY } from "./addresses";
import { Snippet } from "./code";
import { Diff } from "./diff";
import type { Action, Change, Reason } from "./document";
import { blockOf, doc, moduleName } from "./document";
import { Reasons, Steps } from "./reasons";
import type { Route } from "./route";
import { change, href } from "./route";
import { ACTION_WORDS, ActionMark, Empty, Icon, SYMBOLS, SourceLink, count } from "./ui";
import { Virtual } from "./virtual";

const plan = doc.plan!;

/** Changes of instances of one block that are the same but for their keys. */
interface Fold {
  id: string;
  changes: Change[];
  /** The address without the keys that differ. */
  name: string;
}

type Row =
  | { kind: "group"; id: string; title: string; counts: Map<Action, number>; isOpen: boolean }
  | { kind: "fold"; id: string; fold: Fold };

const ORDER: Action[] = ["delete", "replace", "create", "update", "forget", "read", "no-op"];
const withoutKeys = (address: string): string => address.replace(KEY, "[…]");

function folded(changes: Change[]): Fold[] {
  const found = new Map<string, Fold>();
  for (const each of changes) {
    const name = withoutKeys(each.address);
    const id = `${each.action} ${name} ${each.diff.join(",")} ${each.deposed ? each.address : ""} ${each.moved ? each.address : ""}`;
    const fold = found.get(id);
    if (fold) fold.changes.push(each);
    else found.set(id, { id, changes: [each], name });
  }
  for (const fold of found.values()) fold.id = fold.changes[0].address + (fold.changes[0].deposed ?? "");
  return [...found.values()];
}

// -- what is searched -------------------------------------------------------------------------

let lowered: string[] | undefined;
function matching(changes: Change[], wanted: string): Change[] {
  const text = wanted.trim().toLowerCase();
  if (!text) return changes;
  lowered ??= plan.parts.map((each) => each.toLowerCase());
  const parts = new Set<number>();
  lowered.forEach((each, number) => each.includes(text) && parts.add(number));
  return changes.filter((each) => each.address.toLowerCase().includes(text) || (each.why ?? "").toLowerCase().includes(text) || (parts.size > 0 && each.diff.some((number) => parts.has(number))));
}

function groupName(each: Change, by: string): string {
  if (by === "action") return each.action;
  if (by === "type") return (each.mode === "data" ? "data " : "") + each.type;
  return each.module;
}

function groupTitle(name: string, by: string): string {
  if (by === "action") return `To ${ACTION_WORDS[name as Action]}`;
  return by === "type" ? name : moduleName(name);
}

export function PlanView({ route }: { route: Route }): VNode {
  const by = route.options.get("by") ?? "module";
  const only = route.options.get("only") ?? "";
  const wanted = route.options.get("q") ?? "";
  const tab = route.rest || "changes";
  const open = route.options.get("change") ?? "";
  const [closed, setClosed] = useState<Set<string>>(new Set());

  const found = useMemo(() => {
    const actions = new Set(only.split(",").filter(Boolean));
    const kept = actions.size ? plan.changes.filter((each) => actions.has(each.action)) : plan.changes;
    return matching(kept, wanted);
  }, [only, wanted]);
  const rows = useMemo(() => {
    const groups = new Map<string, Change[]>();
    for (const each of found) {
      const name = groupName(each, by);
      const group = groups.get(name);
      if (group) group.push(each);
      else groups.set(name, [each]);
    }
    const names = [...groups.keys()];
    if (by === "action") names.sort((one, other) => ORDER.indexOf(one as Action) - ORDER.indexOf(other as Action));
    const all: Row[] = [];
    for (const name of names) {
      const counts = new Map<Action, number>();
      for (const each of groups.get(name)!) counts.set(each.action, (counts.get(each.action) ?? 0) + 1);
      const isOpen = !closed.has(name);
      if (names.length > 1 || name) all.push({ kind: "group", id: name, title: groupTitle(name, by), counts, isOpen });
      if (isOpen) for (const fold of folded(groups.get(name)!)) all.push({ kind: "fold", id: fold.id, fold });
    }
    return all;
  }, [found, by, closed]);
  const reveal = open ? rows.find((each) => each.kind === "fold" && each.fold.changes.some((one) => one.address === open))?.id : undefined;
  const toggle = (name: string) => {
    const next = new Set(closed);
    if (!next.delete(name)) next.add(name);
    setClosed(next);
  };
  return (
    <div class="main plan">
      <PlanHead route={route} tab={tab} />
      {tab === "changes" && (
        <>
          <div class="toolbar">
            <label class="filter">
              <Icon name="search" />
              <input type="search" placeholder="Search addresses, values and reasons" aria-label="Search addresses, values and reasons" value={wanted} onInput={(event) => change(route, { q: event.currentTarget.value })} />
            </label>
            <ActionFilter route={route} only={only} />
            <label class="choice">
              <span>Group by</span>
              <select value={by} onChange={(event) => change(route, { by: event.currentTarget.value })}>
                <option value="module">module</option>
                <option value="action">action</option>
                <option value="type">type</option>
              </select>
            </label>
            <span class="muted" role="status">
              {count(found.length, "change")}
            </span>
          </div>
          {rows.length ? (
            <Virtual
              items={rows}
              keyOf={(each) => `${each.kind} ${each.id}`}
              estimate={(each) => (each.kind === "group" ? 42 : 36)}
              label="Changes"
              reveal={reveal && `fold ${reveal}`}
              render={(row) => (row.kind === "group" ? <GroupRow row={row} onClick={() => toggle(row.id)} /> : <FoldRow fold={row.fold} route={route} open={open} showsModule={by !== "module"} />)}
            />
          ) : (
            <NoChanges open={open} />
          )}
        </>
      )}
      {tab === "outputs" && <Outputs />}
      {tab === "deferred" && <Deferred />}
      {tab === "drift" && <DriftList route={route} open={open} />}
      {tab === "checks" && <Checks />}
    </div>
  );
}

function NoChanges({ open }: { open: string }): VNode {
  if (plan.changes.length) return <Empty title="No change matches">Remove a filter to see more.</Empty>;
  if (open) return <Empty title="Not in this plan">{open} does not change.</Empty>;
  if (!plan.outputs.length) return <Empty title="No changes">What exists is what the configuration describes.</Empty>;
  return (
    <Empty title="No object changes">
      Only outputs do: <a href={href("plan", "outputs")}>{count(plan.outputs.length, "output")}</a>
    </Empty>
  );
}

function PlanHead({ route, tab }: { route: Route; tab: string }): VNode {
  const { counts } = plan;
  const parts: [string, number, string][] = [
    ["add", counts.add, "create"],
    ["change", counts.change, "update"],
    ["destroy", counts.destroy, "delete"],
    ["import", counts.import, "read"],
    ["forget", counts.forget, "forget"],
  ];
  const tabs: [string, string, number][] = [
    ["changes", "Changes", plan.changes.length],
    ...(plan.deferred.length ? [["deferred", "Deferred", plan.deferred.length] as [string, string, number]] : []),
    ["outputs", "Outputs", plan.outputs.length],
    ["drift", "Drift", plan.drift.length],
    ["checks", "Checks", plan.checks.length],
  ];
  const words = { destroy: "Destroy plan", "refresh-only": "Refresh-only plan" }[plan.mode] ?? "Plan";
  return (
    <header class="main-head plan-head">
      <h2>{words}</h2>
      <p class="totals">
        {parts
          .filter(([word, number]) => number > 0 || ["add", "change", "destroy"].includes(word))
          .map(([word, number, action]) => (
            <span key={word} class={`total ${number ? `mark-${action}` : "total-none"}`}>
              <b>{number.toLocaleString("en")}</b> to {word}
            </span>
          ))}
        {plan.unchanged > 0 && <span class="muted">{plan.unchanged.toLocaleString("en")} unchanged</span>}
        {plan.targeted && <span class="tag tag-warn">only a part, because of -target or -exclude</span>}
        {plan.incomplete && <span class="tag tag-warn">incomplete: it cannot be applied</span>}
      </p>
      <Alerts />
      <nav class="subtabs" aria-label="Parts of the plan">
        {tabs.map(([name, title, number]) => (
          <a key={name} href={href("plan", name === "changes" ? "" : name, name === "changes" ? Object.fromEntries(route.options) : {})} aria-current={tab === name ? "page" : undefined}>
            {title} <span class="count">{number.toLocaleString("en")}</span>
          </a>
        ))}
      </nav>
    </header>
  );
}

const MOST_NAMED = 3;

/** What a reviewer must not miss: what is destroyed or replaced, failed checks and drift. */
function Alerts(): VNode | null {
  const doing = (action: Action) => plan.changes.filter((each) => each.action === action).map((each) => each.address);
  const failed = plan.checks.filter((each) => each.status === "fail" || each.status === "error").map((each) => each.address);
  const all: [words: string, names: string[], to: string][] = [
    ["will be destroyed", doing("delete"), href("plan", "", { only: "delete" })],
    ["will be replaced", doing("replace"), href("plan", "", { only: "replace" })],
    [failed.length === 1 ? "does not pass" : "do not pass", failed, href("plan", "checks")],
    [plan.drift.length === 1 ? "was changed outside" : "were changed outside", plan.drift.map((each) => each.address), href("plan", "drift")],
  ];
  const found = all.filter(([, names]) => names.length);
  if (!found.length) return null;
  return (
    <ul class="alerts" aria-label="Take care">
      {found.map(([words, names, to]) => (
        <li key={words}>
          <a href={to}>
            {count(names.length, names === failed ? "check" : "object")} {words}
          </a>
          <span class="address">
            {names.slice(0, MOST_NAMED).join(", ")}
            {names.length > MOST_NAMED && ` and ${names.length - MOST_NAMED} more`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function ActionFilter({ route, only }: { route: Route; only: string }): VNode {
  const chosen = new Set(only.split(",").filter(Boolean));
  const present = ORDER.filter((action) => plan.changes.some((each) => each.action === action));
  const toggle = (action: string) => {
    const next = new Set(chosen);
    if (!next.delete(action)) next.add(action);
    change(route, { only: [...next].join(",") });
  };
  return (
    <div class="chips" role="group" aria-label="Show only">
      {present.map((action) => (
        <button key={action} class={`chip mark-${action}`} aria-pressed={chosen.has(action)} onClick={() => toggle(action)}>
          <span aria-hidden="true">{SYMBOLS[action]}</span> {ACTION_WORDS[action]}
        </button>
      ))}
    </div>
  );
}

function GroupRow({ row, onClick }: { row: Row & { kind: "group" }; onClick: () => void }): VNode {
  return (
    <button class="group-row" aria-expanded={row.isOpen} onClick={onClick}>
      <span class={`twist ${row.isOpen ? "is-open" : ""}`}>
        <Icon name="right" />
      </span>
      <span class="group-title">{row.title}</span>
      <span class="group-counts">
        {ORDER.filter((action) => row.counts.has(action)).map((action) => (
          <span key={action} class={`mark-${action}`}>
            {SYMBOLS[action]}
            {row.counts.get(action)!.toLocaleString("en")}
          </span>
        ))}
      </span>
    </button>
  );
}

function keysOf(fold: Fold): string[] {
  return fold.changes.map((each) => (each.address.match(KEY) ?? []).join(""));
}

function FoldRow({ fold, route, open, showsModule, isDrift = false }: { fold: Fold; route: Route; open: string; showsModule: boolean; isDrift?: boolean }): VNode {
  const first = fold.changes[0];
  const isOpen = fold.changes.some((each) => each.address === open);
  const many = fold.changes.length;
  const name = many > 1 ? fold.name : first.address;
  const module = first.module && (many > 1 ? withoutKeys(first.module) : first.module);
  const local = module ? name.slice(module.length + 1) : name;
  return (
    <article class={`change ${isOpen ? "is-open" : ""}`}>
      <button class="change-row" aria-expanded={isOpen} onClick={() => change(route, { change: isOpen ? undefined : first.address })} title={name}>
        <ActionMark action={first.action} />
        <span class="change-name address">
          {showsModule && module && <span class="muted">{module}.</span>}
          {local}
        </span>
        {many > 1 && <span class="tag">× {many.toLocaleString("en")}</span>}
        {many > 1 && <span class="muted change-keys">{keysOf(fold).slice(0, 12).join(" ")}{many > 12 ? " …" : ""}</span>}
        {first.deposed && <span class="tag tag-warn">deposed {first.deposed}</span>}
        {first.imported && <span class="tag">import</span>}
        {first.moved && <span class="tag">moved</span>}
        {first.why && <span class="change-why muted">{first.why}</span>}
      </button>
      {isOpen && <ChangeDetail fold={fold} isDrift={isDrift} />}
    </article>
  );
}

function ChangeDetail({ fold, isDrift }: { fold: Fold; isDrift: boolean }): VNode {
  const each = fold.changes[0];
  const block = blockOf(each.address, each.module);
  return (
    <div class="change-detail">
      <p class="change-facts">
        <span>
          {isDrift ? happened(each) : sentence(each)}
          {each.why && <span> {each.why}</span>}
        </span>
        <SourceLink at={each.at} />
        <a href={href("graph", "", { of: doc.operations ? "operations" : undefined, focus: doc.operations ? each.address : block })}>graph</a>
        {each.provider && <span class="muted">{each.provider}</span>}
      </p>
      {each.moved && <p class="muted">Moved from {each.moved}</p>}
      {each.imported && <p class="muted">Imported from {each.imported}</p>}
      {fold.changes.length > 1 && (
        <details class="fold-list">
          <summary>{count(fold.changes.length, "instance")} with the same change</summary>
          <ul class="keys">
            {fold.changes.slice(0, 500).map((one) => (
              <li key={one.address} class="address">
                {one.address}
              </li>
            ))}
          </ul>
          {fold.changes.length > 500 && <p class="muted">and {count(fold.changes.length - 500, "more", "more")}</p>}
        </details>
      )}
      <Diff numbers={each.diff} />
      <Reasons number={each.reason} of={each.reason_of} />
    </div>
  );
}

function sentence(each: Change): string {
  const order = each.steps ? ` (${each.steps.map((step) => (step === "delete" ? "destroy" : step)).join(", then ")})` : "";
  const words: Record<Action, string> = {
    create: "Will be created",
    update: "Will be updated in place",
    replace: `Must be replaced${order}`,
    delete: "Will be destroyed",
    read: "Will be read during apply",
    forget: "Will be removed from the state, but not destroyed",
    "no-op": "Only its address changes",
  };
  return words[each.action];
}

function happened(each: Change): string {
  if (each.action === "delete") return "Does not exist any more";
  return each.moved ? "Has been moved" : "Has been changed";
}

const DEFERRALS: Record<string, string> = {
  instance_count_unknown: "How many instances it has is known only after apply",
  provider_config_unknown: "The configuration of its provider is known only after apply",
  resource_config_unknown: "Some of its arguments are known only after apply",
  absent_prereq: "Something that it needs does not exist yet",
  deferred_prereq: "Something that it needs is deferred",
};

function Deferred(): VNode {
  return (
    <>
      <p class="toolbar muted">What is left for a later round, and what it waits for.</p>
      <Virtual
        items={plan.deferred}
        keyOf={(each) => each.address}
        estimate={() => 60}
        label="Deferred"
        render={(each) => (
          <article class="problem">
            <h3>
              <span class="tag">round {each.round}</span> <span class="address">{each.address}</span> <span class="muted">{each.kind}</span>
            </h3>
            <p class="muted">{DEFERRALS[each.reason] ?? each.reason.replaceAll("_", " ")}. It waits for:</p>
            <ol class="reason address">
              {each.chain.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
            {each.change && (
              <details class="reasons">
                <summary>As much as is known of it</summary>
                <Diff numbers={each.change.diff} />
              </details>
            )}
          </article>
        )}
      />
    </>
  );
}

function Outputs(): VNode {
  if (!plan.outputs.length) return <Empty title="No output changes" />;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Outputs">
      {plan.outputs.map((each) => (
        <div class="output-change" key={each.name}>
          <Diff numbers={[each.diff]} />
          <Reasons number={each.reason} />
        </div>
      ))}
    </div>
  );
}

function DriftList({ route, open }: { route: Route; open: string }): VNode {
  const folds = useMemo(() => folded(plan.drift), []);
  if (!folds.length) return <Empty title="No drift">Every object is what the state says.</Empty>;
  return (
    <>
      <p class="toolbar muted">What has changed outside since the state was last stored.</p>
      <Virtual items={folds} keyOf={(each) => each.id} estimate={() => 36} label="Drift" reveal={folds.find((each) => each.changes.some((one) => one.address === open))?.id} render={(fold) => <FoldRow fold={fold} route={route} open={open} showsModule isDrift />} />
    </>
  );
}

const STATUSES: [status: string, words: string][] = [
  ["error", "could not be evaluated"],
  ["fail", "failed"],
  ["unknown", "known after apply"],
  ["pass", "passed"],
];

/** The conditions that do not hold, in their source, with the values behind them. */
function FailedConditions({ number }: { number?: number }): VNode | null {
  if (number === undefined) return null;
  const { arguments: conditions = [] } = JSON.parse(plan.reasons[number]) as Reason;
  return (
    <>
      {conditions.map((each, at) => (
        <div class="reason-part" key={at}>
          <SourceLink at={each.at} />
          {each.at && <Snippet at={each.at} />}
          <Steps steps={each.steps ?? []} />
        </div>
      ))}
    </>
  );
}

function Checks(): VNode {
  if (!plan.checks.length) return <Empty title="No checks">The configuration has no conditions.</Empty>;
  const order = STATUSES.map(([status]) => status);
  const all = [...plan.checks].sort((one, other) => order.indexOf(one.status) - order.indexOf(other.status));
  const counts = STATUSES.map(([status, words]): [number, string] => [all.filter((each) => each.status === status).length, words]).filter(([number]) => number);
  return (
    <>
      <p class="toolbar muted">{counts.map(([number, words]) => `${number.toLocaleString("en")} ${words}`).join(", ")}</p>
      <Virtual
        items={all}
        keyOf={(each) => `${each.kind} ${each.address}`}
        estimate={() => 36}
        label="Checks"
        render={(each) => (
          <div class="check">
            <span class={`status status-${each.status}`}>{each.status}</span>
            <span class="address">{each.address}</span>
            <SourceLink at={each.at} />
            {each.objects.some((one) => one.messages.length || one.reason !== undefined) && (
              <ul class="plain-list check-objects">
                {each.objects.map((one) => (
                  <li key={one.address}>
                    {one.messages.map((message) => (
                      <p key={message}>
                        {one.address !== each.address && <span class="address">{one.address}: </span>}
                        {message}
                      </p>
                    ))}
                    <FailedConditions number={one.reason} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      />
    </>
  );
}
