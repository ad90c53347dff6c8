// Differences, as the terminal shows them: a mark before each line, what stays the same folded away.
import type { ComponentChildren, VNode } from "preact";
import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { doc } from "./document";
import { count, kindOf } from "./ui";

// The shapes are described in nigari.explore.differences.
type Fate = " " | "+" | "-" | "~";
type Part = [string, Fate, 0 | 1, ...any[]];
type Entry = [name: string, part: Part, isBlock?: 1];

const parsed = new Map<number, Entry>();
export function entry(number: number): Entry {
  let found = parsed.get(number);
  if (!found) {
    found = JSON.parse(doc.plan!.parts[number]) as Entry;
    parsed.set(number, found);
  }
  return found;
}

const IMPORTANT = new Set(["id", "name", "tags"]);
const FATES: Record<Fate, string> = { " ": "same", "+": "new", "-": "gone", "~": "changed" };
const FATE_WORDS: Record<Fate, string> = { " ": "", "+": "added: ", "-": "removed: ", "~": "changed: " };

interface LineProps {
  fate: Fate;
  depth: number;
  children: ComponentChildren;
}

function Line({ fate, depth, children }: LineProps): VNode {
  return (
    <div class={`diff-line diff-${FATES[fate]}`}>
      <span class="diff-mark" aria-hidden="true">
        {fate}
      </span>
      <span class="diff-text" style={{ "--depth": depth }}>
        {fate !== " " && <span class="hidden-text">{FATE_WORDS[fate]}</span>}
        {children}
      </span>
    </div>
  );
}

const Forces = ({ forces }: { forces: 0 | 1 }): VNode | null => (forces ? <span class="diff-forces"> # forces replacement</span> : null);

/** The values of an object that does not change. */
export function Values({ numbers }: { numbers: number[] }): VNode {
  return (
    <div class="diff" role="group" aria-label="Values" tabIndex={0}>
      <ShowsAll.Provider value={true}>
        <Entries entries={numbers.map((each) => JSON.parse(doc.stored!.parts[each]) as Entry)} depth={0} />
      </ShowsAll.Provider>
    </div>
  );
}

/** Whether what stays the same is shown from the beginning. */
const ShowsAll = createContext(false);

export function Diff({ numbers }: { numbers: number[] }): VNode {
  return (
    <div class="diff" role="group" aria-label="Differences" tabIndex={0}>
      <Entries entries={numbers.map(entry)} depth={0} />
    </div>
  );
}

function Entries({ entries, depth, quiet }: { entries: Entry[]; depth: number; quiet?: boolean }): VNode {
  const isAll = useContext(ShowsAll);
  const [shows, show] = useState(isAll);
  const changing = entries.filter(([name, part]) => part[1] !== " " || IMPORTANT.has(name));
  const same = entries.length - changing.length;
  const shown = shows ? entries : changing;
  const width = Math.max(0, ...shown.filter((each) => !each[2]).map(([name]) => name.length));
  return (
    <>
      {shown.map(([name, part, isBlock], at) => (
        <Named key={at} name={isBlock ? name : name.padEnd(Math.min(width, 28))} part={part} depth={depth} isBlock={isBlock} quiet={quiet} />
      ))}
      {same > 0 && !isAll && <Hidden number={same} word="attribute" depth={depth} shows={shows} onClick={() => show(!shows)} />}
    </>
  );
}

function Hidden({ number, word, depth, shows, onClick }: { number: number; word: string; depth: number; shows: boolean; onClick: () => void }): VNode {
  return (
    <Line fate=" " depth={depth}>
      <button class="diff-hidden" onClick={onClick} aria-expanded={shows}>
        {shows ? `hide ${count(number, `unchanged ${word}`)}` : count(number, `unchanged ${word}`)}
      </button>
    </Line>
  );
}

interface NamedProps {
  name: string;
  part: Part;
  depth: number;
  isBlock?: 1;
  /** Whether it goes without saying that what goes becomes null. */
  quiet?: boolean;
}

const BRACKETS: Record<string, [open: string, close: string]> = { m: ["{", "}"], l: ["[", "]"], b: ["{", "}"], t: ["<<-EOT", "EOT"], j: ["jsonencode(", ")"] };

/** A part after its name: on its line, or over several. */
function Named({ name, part, depth, isBlock, quiet }: NamedProps): VNode {
  const [kind, fate, forces] = part;
  const before = name && (
    <>
      <span class="diff-name">{name}</span>
      {isBlock ? " " : " = "}
    </>
  );
  const simple = inline(part, quiet);
  if (simple) {
    return (
      <Line fate={fate} depth={depth}>
        {before}
        {simple}
        <Forces forces={forces} />
      </Line>
    );
  }
  const gone = fate === "-" && !quiet ? <span class="diff-null"> → null</span> : null;
  const [open, close] = BRACKETS[kind] ?? ["", ""];
  if (kind === "p" || kind === "e") return <Replaced before={before} part={part} depth={depth} />;
  return (
    <>
      <Line fate={fate} depth={depth}>
        {before}
        {open}
        {kind === "j" && part[4] ? <span class="muted"> # only whitespace changes</span> : null}
        <Forces forces={forces} />
      </Line>
      <Inside part={part} depth={depth + 1} quiet={quiet} />
      <Line fate=" " depth={depth}>
        {close}
        {gone}
      </Line>
    </>
  );
}

/** A value with parts that another takes the place of: one change, whose prior parts are folded. */
function Replaced({ before, part, depth }: { before: ComponentChildren; part: Part; depth: number }): VNode {
  const [shows, show] = useState(false);
  const [kind, fate, forces, prior] = part;
  const planned = kind === "p" ? null : (part[4] as Part);
  const after = planned ? inline(planned, true) : <Pending />;
  const [open, close] = BRACKETS[prior[0]] ?? ["", ""];
  return (
    <>
      <Line fate={fate} depth={depth}>
        {before}
        {inline(prior, true) ?? (
          <>
            {open}{" "}
            <button class="diff-hidden" onClick={() => show(!shows)} aria-expanded={shows}>
              {shows ? `hide ${sizeOf(prior)}` : sizeOf(prior)}
            </button>{" "}
            {close}
          </>
        )}{" "}
        <span class="diff-arrow">→</span> {after}
        <Forces forces={forces} />
      </Line>
      {shows && <Inside part={prior} depth={depth + 1} quiet />}
      {planned && !after && <Named name="" part={planned} depth={depth} quiet />}
    </>
  );
}

/** How much is in a part, in words. */
function sizeOf(part: Part): string {
  const [kind] = part;
  if (kind === "m") return count(Object.keys(part[4]).length, "attribute");
  if (kind === "l") return count(part[4].length, "element");
  if (kind === "b") return count(part[3].length, "attribute");
  if (kind === "t") return count(part[3].length, "line");
  return sizeOf(part[3]);
}

function Inside({ part, depth, quiet }: { part: Part; depth: number; quiet?: boolean }): VNode {
  const kind = part[0];
  if (kind === "b") return <Entries entries={part[3]} depth={depth} quiet={quiet} />;
  if (kind === "m") {
    const isMap = part[3] === 1;
    const entries = Object.entries(part[4] as Record<string, Part>).map(([name, each]): Entry => [isMap ? JSON.stringify(name) : name, each]);
    return <Entries entries={entries} depth={depth} quiet={quiet || (isMap && part[1] === "-")} />;
  }
  if (kind === "l") return <Elements parts={part[4]} depth={depth} />;
  if (kind === "j") return <Named name="" part={part[3]} depth={depth} quiet />;
  return (
    <>
      {(part[3] as [Fate, string][]).map(([fate, text], at) => (
        <Line fate={fate} depth={depth} key={at}>
          {text}
        </Line>
      ))}
    </>
  );
}

function Elements({ parts, depth }: { parts: Part[]; depth: number }): VNode {
  const isAll = useContext(ShowsAll);
  const [shows, show] = useState(isAll);
  const changing = parts.filter((part) => part[1] !== " ");
  const same = parts.length - changing.length;
  return (
    <>
      {(shows ? parts : changing).map((part, at) => (
        <Named key={at} name="" part={part} depth={depth} quiet />
      ))}
      {same > 0 && !isAll && <Hidden number={same} word="element" depth={depth} shows={shows} onClick={() => show(!shows)} />}
    </>
  );
}

const Pending = (): VNode => <span class="diff-pending">(known after apply)</span>;

function inline(part: Part, quiet = false): VNode | null {
  const [kind, fate] = part;
  if (kind === "s") {
    if (fate === "~") {
      return (
        <>
          <Plain value={part[3]} /> <span class="diff-arrow">→</span> <Plain value={part[4]} />
        </>
      );
    }
    if (fate === "-") {
      return (
        <>
          <Plain value={part[3]} />
          {!quiet && <span class="diff-null"> → null</span>}
        </>
      );
    }
    return <Plain value={fate === "+" ? part[4] : part[3]} />;
  }
  if (kind === "x") {
    const [was, is] = [part[3], part[4]];
    const note = was !== is && fate === "~" ? (is ? " becomes sensitive" : " stops being sensitive") : "";
    return (
      <>
        <span class="diff-secret">(sensitive value)</span>
        {note && <span class="diff-forces">{note}</span>}
      </>
    );
  }
  if (kind === "w") return <span class="diff-secret">(write-only attribute)</span>;
  if (kind === "p") {
    if (!part[3]) return <Pending />;
    const before = inline(part[3], true);
    return (
      before && (
        <>
          {before} <span class="diff-arrow">→</span> <Pending />
        </>
      )
    );
  }
  if (kind === "m" && !Object.keys(part[4]).length) return <>{"{}"}</>;
  if (kind === "l" && !part[4].length) return <>[]</>;
  if (kind === "b" && !part[3].length) return <>{"{}"}</>;
  if (kind === "e") {
    const [before, after] = [inline(part[3], true), inline(part[4], true)];
    return (
      before &&
      after && (
        <>
          {before} <span class="diff-arrow">→</span> {after}
        </>
      )
    );
  }
  return null;
}

function Plain({ value }: { value: unknown }): VNode {
  const text = Array.isArray(value) ? String(value[1]) : JSON.stringify(value);
  return <span class={value === null ? "muted" : kindOf(text)}>{text}</span>;
}
