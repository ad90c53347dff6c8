// Small things that every view uses.
import type { ComponentChildren, VNode } from "preact";
import type { Action, Place, ValueRow } from "./document";
import { doc, lineOf, valueText } from "./document";
import { href } from "./route";

const ICONS: Record<string, string> = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5 14 14",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13",
  moon: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z",
  auto: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 0v12",
  right: "m6 3.5 4.5 4.5L6 12.5",
  close: "M4 4l8 8M12 4l-8 8",
  file: "M4 1.8h5l3 3v9.4H4ZM9 1.8v3h3",
  graph: "M3 3h4v3H3ZM9 10h4v3H9ZM5 6v5.5h4",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  fit: "M2.5 6v-3.5h3.5M10 2.5h3.5v3.5M13.5 10v3.5h-3.5M6 13.5h-3.5v-3.5",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 0 1 4.3 4.3L11.3 8.8M9 11.5l-1.2 1.2a3 3 0 0 1-4.3-4.3L4.7 7.2",
};

export function Icon({ name }: { name: string }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={ICONS[name]} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export const SYMBOLS: Record<Action, string> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "−",
  read: "≤",
  forget: "·",
  "no-op": "→",
};

export const ACTION_WORDS: Record<Action, string> = {
  create: "create",
  update: "change",
  replace: "replace",
  delete: "destroy",
  read: "read",
  forget: "forget",
  "no-op": "move",
};

export function ActionMark({ action }: { action: Action }): VNode {
  return (
    <span class={`mark mark-${action}`} role="img" aria-label={ACTION_WORDS[action]} title={ACTION_WORDS[action]}>
      {SYMBOLS[action]}
    </span>
  );
}

const PHASES: Record<string, string> = {
  missing: "no value",
  plan: "known when planning",
  apply: "known after apply",
  error: "error",
};

/** What a link leads to that is not on this page. */
export function Missing({ name }: { name: string }): VNode {
  return (
    <p class="missing" role="status">
      <span class="address">{name}</span> is not on this page. The link may be from another version of the configuration.
    </p>
  );
}

/** A value in one line. */
export function ValueText({ row }: { row: ValueRow }): VNode {
  if (row.phase !== "static") {
    const text = valueText(row);
    const isPart = !text.startsWith("(");
    return (
      <span class="value">
        {isPart && <code class="value-text">{oneLine(text)}</code>}
        <span class={`phase phase-${row.phase}`}>{PHASES[row.phase]}</span>
      </span>
    );
  }
  const text = valueText(row);
  const isHidden = text === "(sensitive value)" || text === "(ephemeral value)";
  if (isHidden) return <span class="phase phase-secret">{text.slice(1, -1)}</span>;
  const plain = withoutConversion(text);
  return <code class={`value-text ${kindOf(plain)}`}>{oneLine(plain)}</code>;
}

/** A value without the function that only says of which type it is. */
function withoutConversion(text: string): string {
  const found = /^to(?:map|list|string|number|bool)\(([^]*)\)(?: \/\*.*\*\/)?$/.exec(text);
  return found ? found[1] : text;
}

export function kindOf(text: string): string {
  if (text.startsWith('"') || text.startsWith("<<")) return "tok-string";
  return /^(-?[0-9]|true$|false$|null$)/.test(text) ? "tok-number" : "";
}

export function oneLine(text: string): string {
  // Lines of what is in brackets become one, as it could be written.
  const line = text
    .replace(/,?\s*\n\s*([}\])])/g, " $1")
    .replace(/([{[(,])\s*\n\s*/g, "$1 ")
    .replace(/\s*\n\s*/g, ", ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

export function SourceLink({ at, children }: { at?: Place | null; children?: ComponentChildren }): VNode | null {
  if (!at) return null;
  const file = doc.files[at[0]].name;
  return (
    <a class="source-link" href={href("source", file, { at: `${at[1]}-${at[2]}` })}>
      {children ?? (
        <>
          {file}:{lineOf(at)}
        </>
      )}
    </a>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export const count = (number: number, word: string, many = `${word}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? word : many}`;
