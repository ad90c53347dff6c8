// The configuration: module instances as a tree, everything they declare, and where values come from.
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { modulePath, parentModule } from "./addresses";
import { Chain } from "./chain";
import { Values } from "./diff";
import type { Argument, Change, Content, Declared, Module, NestedBlock, Place, Repeated, StoredObject } from "./document";
import { blockOf, doc, moduleName, rows, valueKey, valueOfKey } from "./document";
import type { Route } from "./route";
import { change, go, href } from "./route";
import { ACTION_WORDS, ActionMark, Empty, Icon, Missing, SourceLink, ValueText, count } from "./ui";
import { Virtual } from "./virtual";

const { modules, backend } = doc.configuration;

/** The module instance that a value belongs to. */
const moduleOfValue = new Map<number, string>();
for (const module of modules) {
  for (const each of [...module.variables, ...module.locals, ...module.outputs]) moduleOfValue.set(each.value, module.address);
  const blocks: Repeated[] = [...module.resources, ...module.calls, ...module.providers];
  for (const block of blocks) eachValue(block, (value) => moduleOfValue.set(value, module.address));
}

function eachValue(block: Repeated, visit: (value: number) => void): void {
  block.arguments?.forEach(([, value]) => visit(value));
  block.instances?.forEach((each) => each.arguments.forEach(([, value]) => visit(value)));
  if (block.repetition !== undefined) visit(block.repetition);
  block.blocks?.forEach((inner) => eachValue(inner, visit));
}

export function Configuration({ route }: { route: Route }): VNode {
  const key = route.options.get("value");
  const value = key ? valueOfKey(key) : undefined;
  const fromValue = value === undefined ? undefined : moduleOfValue.get(value);
  const [lastModule, setLast] = useState("");
  const wanted = route.rest || (fromValue ?? lastModule);
  const address = wanted === "root" ? "" : wanted;
  const module = modules.find((each) => each.address === address) ?? modules[0];
  if (module.address !== lastModule) setLast(module.address);
  const close = () => go(href("configuration", module.address || "root"));
  return (
    <div class={`split ${value === undefined ? "" : "has-panel"}`}>
      <nav class="side" aria-label="Modules">
        <h2 class="side-title">
          Modules <span class="count">{modules.length}</span>
        </h2>
        <ModuleTree selected={module} />
      </nav>
      <div class="main">
        {(key && value === undefined && <Missing name={key} />) || (module.address !== address && <Missing name={address} />)}
        <ModuleHead module={module} />
        <ModuleBody module={module} route={route} selected={value} />
      </div>
      {value !== undefined && <Chain number={value} onClose={close} key={value} />}
    </div>
  );
}

// -- the tree -------------------------------------------------------------------------------------

const depthOf = (module: Module): number => {
  return modulePath(module.address).length;
};
const sorted = [...modules].sort((one, other) => (one.address < other.address ? -1 : 1));

function ModuleTree({ selected }: { selected: Module }): VNode {
  return (
    <Virtual
      items={sorted}
      keyOf={(each) => each.address || "root"}
      estimate={() => 30}
      label="Module instances"
      class="tree"
      reveal={selected.address || "root"}
      render={(module) => {
        const parent = parentModule(module.address);
        const name = parent ? module.address.slice(parent.length + 1) : module.address;
        return (
          <a
            class="tree-item"
            style={{ "--depth": depthOf(module) }}
            href={href("configuration", module.address || "root")}
            aria-current={module === selected ? "page" : undefined}
            title={module.address}
          >
            <span class="tree-name">{name ? name.replace(/^module\./, "") : "root module"}</span>
            {module.version && <span class="muted">{module.version}</span>}
          </a>
        );
      }}
    />
  );
}

function ModuleHead({ module }: { module: Module }): VNode {
  return (
    <header class="main-head">
      <h2 class="address">{moduleName(module.address)}</h2>
      <dl class="facts">
        <div>
          <dt>Directory</dt>
          <dd>{module.directory}</dd>
        </div>
        {module.source && (
          <div>
            <dt>Source</dt>
            <dd>{module.source}</dd>
          </div>
        )}
        {module.version && (
          <div>
            <dt>Version</dt>
            <dd>{module.version}</dd>
          </div>
        )}
        <div>
          <dt>Files</dt>
          <dd class="file-list">
            {module.files.map((file) => (
              <a key={file} href={href("source", doc.files[file].name)}>
                {doc.files[file].name.split("/").pop()}
              </a>
            ))}
          </dd>
        </div>
      </dl>
    </header>
  );
}

// -- what a module declares, as rows of one list --------------------------------------------------

type Row =
  | { kind: "section"; id: string; title: string; count: number }
  | { kind: "value"; id: string; name: string; value: number; depth: number; declared?: Declared }
  | { kind: "block"; id: string; title: string; at?: Place | null; note?: string; depth: number; link?: string }
  | { kind: "object"; id: string; key: string; stored?: StoredObject; change?: Change }
  | { kind: "note"; id: string; text: string; depth: number };

function rowsOf(module: Module): Row[] {
  const found: Row[] = [];
  const section = (title: string, many: number) => many && found.push({ kind: "section", id: title, title, count: many });
  const declared = (title: string, all: Declared[]) => {
    section(title, all.length);
    for (const each of all) {
      found.push({ kind: "value", id: `${title} ${each.name}`, name: each.name, value: each.value, depth: 0, declared: each });
    }
  };
  declared("Variables", module.variables);
  declared("Local values", module.locals);
  declared("Outputs", module.outputs);
  section("Resources", module.resources.length);
  for (const each of module.resources) {
    const words = each.mode === "resource" ? each.type : `${each.mode} ${each.type}`;
    block(found, each.address, `${words} ${each.name}`, each, each.provider, href("graph", "", { focus: blockOf(each.address, module.address) }));
    for (const one of objects.get(each.address) ?? []) found.push({ kind: "object", id: `object ${each.address}${one.key}`, ...one });
  }
  section("Module calls", module.calls.length);
  for (const each of module.calls) {
    block(found, each.address, `module ${each.name}`, each, "");
    for (const one of each.calls) {
      const id = `${each.address}${one.key}`;
      found.push({ kind: "value", id: `${id} source`, name: `source${one.key && ` of ${one.key}`}`, value: one.source, depth: 1 });
      if (one.version !== null) found.push({ kind: "value", id: `${id} version`, name: `version${one.key && ` of ${one.key}`}`, value: one.version, depth: 1 });
      if (!one.is_installed) found.push({ kind: "note", id: `${id} missing`, text: "This module is not installed: run nigari init.", depth: 1 });
    }
  }
  section("Providers", module.providers.length + module.requires.length);
  for (const each of module.requires) {
    found.push({ kind: "block", id: `requires ${each.name}`, title: each.name, note: each.source, at: each.at, depth: 0 });
    if (each.version !== null) found.push({ kind: "value", id: `requires ${each.name} version`, name: "version", value: each.version, depth: 1 });
  }
  for (const each of module.providers) {
    block(found, `provider ${each.address}`, `provider ${each.address}`, each, each.passed ? `passed by the caller as ${each.passed}` : each.provider);
  }
  if (!module.address && backend) {
    section("Backend", 1);
    block(found, "backend", `backend ${backend.type}`, backend, "");
  }
  return found;
}

/** The instances that the state has, and those that the plan makes. */
const objects = new Map<string, { key: string; stored?: StoredObject; change?: Change }[]>();
const listed = new Map<string, { key: string; stored?: StoredObject; change?: Change }>();
function list(resource: string, key: string, found: { stored?: StoredObject; change?: Change }): void {
  const known = listed.get(resource + key);
  if (known) return void Object.assign(known, found);
  const made = { key, ...found };
  listed.set(resource + key, made);
  const all = objects.get(resource);
  if (all) all.push(made);
  else objects.set(resource, [made]);
}
for (const stored of doc.stored?.objects ?? []) list(stored.resource, stored.key, { stored });
for (const each of doc.plan?.changes ?? []) {
  if (each.deposed) continue;
  const key = /\[("(?:[^"\\]|\\.)*"|\d+)\]$/.exec(each.address)?.[0] ?? "";
  list(each.address.slice(0, each.address.length - key.length), key, { change: each });
}

function block(found: Row[], id: string, title: string, content: Repeated, note: string, link?: string): void {
  const many = content.repetition === undefined ? "" : ` × ${content.count}`;
  found.push({ kind: "block", id, title: `${title}${many}`, at: content.at, note, depth: 0, link });
  if (content.repetition !== undefined) {
    const name = rows[content.repetition].name.split(".").pop()!;
    found.push({ kind: "value", id: `${id} ${name}`, name, value: content.repetition, depth: 1 });
  }
  inside(found, id, content, 1);
  for (const each of content.instances ?? []) {
    if (!each.arguments.length) continue;
    found.push({ kind: "block", id: `${id}${each.key}`, title: each.key, depth: 1 });
    values(found, `${id}${each.key}`, each.arguments, 2);
  }
  const left = (content.count ?? 0) - (content.instances?.length ?? 0);
  if (left > 0) found.push({ kind: "note", id: `${id} more`, text: `and ${count(left, "more instance")}`, depth: 1 });
}

function inside(found: Row[], id: string, content: Content, depth: number): void {
  values(found, id, content.arguments ?? [], depth);
  content.blocks?.forEach((each: NestedBlock, at) => {
    const inner = `${id} ${each.type} ${at}`;
    found.push({ kind: "block", id: inner, title: [each.type, ...each.labels].join(" "), at: each.at, depth });
    inside(found, inner, each, depth + 1);
  });
}

function values(found: Row[], id: string, all: Argument[], depth: number): void {
  for (const [name, value] of all) found.push({ kind: "value", id: `${id} ${name}`, name, value, depth });
}

function ModuleBody({ module, route, selected }: { module: Module; route: Route; selected?: number }): VNode {
  const all = useMemo(() => rowsOf(module), [module]);
  const wanted = route.options.get("q") ?? "";
  const shown = useMemo(() => filtered(all, wanted), [all, wanted]);
  const opened = route.options.get("object");
  const reveal = opened ? `object ${opened}` : selected === undefined ? undefined : shown.find((each) => each.kind === "value" && each.value === selected)?.id;
  return (
    <>
      <div class="toolbar">
        <label class="filter">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Filter by name or value"
            aria-label="Filter by name or value"
            value={wanted}
            onInput={(event) => change(route, { q: event.currentTarget.value })}
          />
        </label>
        <span class="muted" role="status">
          {count(shown.filter((each) => each.kind === "value").length, "value")}
        </span>
      </div>
      {shown.length ? (
        <Virtual
          key={module.address}
          items={shown}
          keyOf={(each) => each.id}
          estimate={(each) => (each.kind === "section" ? 44 : 32)}
          label={`Declarations of ${moduleName(module.address)}`}
          reveal={reveal}
          render={(row) => (row.kind === "object" ? <ObjectRow row={row} route={route} /> : <RowView row={row} module={module} selected={selected} />)}
        />
      ) : (
        <Empty title={wanted ? "Nothing matches the filter" : "This module declares nothing"} />
      )}
    </>
  );
}

function filtered(all: Row[], wanted: string): Row[] {
  const text = wanted.trim().toLowerCase();
  if (!text) return all;
  const found: Row[] = [];
  let section: Row | undefined;
  let around: Row[] = [];
  for (const row of all) {
    if (row.kind === "section") {
      section = row;
      around = [];
    } else if (row.kind === "block") {
      around = [...around.filter((each) => each.kind === "block" && each.depth < row.depth), row];
      if (row.title.toLowerCase().includes(text)) {
        if (section) found.push(section);
        section = undefined;
        found.push(...around);
        around = [];
      }
    } else if (row.kind === "object") {
      if (section === undefined && row.key.toLowerCase().includes(text)) found.push(row);
    } else if (row.kind === "value") {
      const shown = doc.values.texts[rows[row.value].text];
      if (row.name.toLowerCase().includes(text) || shown.toLowerCase().includes(text)) {
        if (section) found.push(section);
        section = undefined;
        found.push(...around.filter((each) => each.kind === "block" && each.depth < row.depth), row);
        around = [];
      }
    }
  }
  return found;
}

function ObjectRow({ row, route }: { row: Row & { kind: "object" }; route: Route }): VNode {
  const { stored, change: planned } = row;
  const address = row.id.slice("object ".length);
  const isOpen = route.options.get("object") === address;
  return (
    <article class="object">
      <div class="object-row">
        {stored ? (
          <button class="object-name" aria-expanded={isOpen} onClick={() => change(route, { object: isOpen ? undefined : address })} title={address}>
            <span class={`twist ${isOpen ? "is-open" : ""}`}>
              <Icon name="right" />
            </span>
            <span class="address">{row.key || "the object"}</span>
          </button>
        ) : (
          <span class="object-name">
            <span class="address">{row.key || "the object"}</span>
          </span>
        )}
        {stored?.status && <span class="tag tag-warn">{stored.status}</span>}
        <span class="muted">{stored ? "in the state" : "not in the state yet"}</span>
        {planned && (
          <a href={href("plan", "", { change: planned.address })}>
            <ActionMark action={planned.action} /> {ACTION_WORDS[planned.action]}
          </a>
        )}
      </div>
      {stored && isOpen && <Values numbers={stored.values} />}
    </article>
  );
}

function RowView({ row, module, selected }: { row: Exclude<Row, { kind: "object" }>; module: Module; selected?: number }): VNode {
  if (row.kind === "section") {
    return (
      <h3 class="section">
        {row.title} <span class="count">{row.count}</span>
      </h3>
    );
  }
  if (row.kind === "note") {
    return (
      <p class="row-note muted" style={{ "--depth": row.depth }}>
        {row.text}
      </p>
    );
  }
  if (row.kind === "block") {
    return (
      <div class="block-row" style={{ "--depth": row.depth }}>
        <span class="block-title">{row.title}</span>
        {row.note && <span class="muted block-note">{row.note}</span>}
        <span class="row-end">
          {row.link && (
            <a href={row.link} class="quiet-link">
              graph
            </a>
          )}
          <SourceLink at={row.at} />
        </span>
      </div>
    );
  }
  const value = rows[row.value];
  const { declared } = row;
  return (
    <a
      class="value-row"
      style={{ "--depth": row.depth }}
      href={href("configuration", module.address || "root", { value: valueKey(row.value) })}
      aria-current={row.value === selected ? "true" : undefined}
      title={declared?.description}
    >
      <span class="value-name">{row.name}</span>
      <span class="value-cell">
        <ValueText row={value} />
        {value.reasons && <span class="value-reason">{value.reasons[0]}</span>}
      </span>
      <span class="row-end muted">
        {declared?.type && <span class="value-type">{declared.type}</span>}
        {declared?.sensitive && <span class="tag">sensitive</span>}
        {declared?.deprecated && <span class="tag tag-warn">deprecated</span>}
        {value.giver && value.giver !== "argument" && value.giver !== "none" && <span class="tag">{value.giver}</span>}
      </span>
    </a>
  );
}
