// The search over everything: values, modules, changes, files. Opened with / or Ctrl-K.
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { doc, moduleName, rows, valueKey, valueText } from "./document";
import { go, href } from "./route";
import { oneLine } from "./ui";

interface Hit {
  kind: string;
  name: string;
  note: string;
  to: string;
}

let everything: { hit: Hit; text: string }[] | undefined;
function index(): { hit: Hit; text: string }[] {
  if (everything) return everything;
  const found: Hit[] = [];
  for (const each of doc.configuration.modules) {
    found.push({ kind: "module", name: moduleName(each.address), note: each.directory, to: href("configuration", each.address || "root") });
  }
  for (const each of doc.plan?.changes ?? []) {
    found.push({ kind: each.action, name: each.address, note: each.why ?? "", to: href("plan", "", { change: each.address }) });
  }
  for (const each of doc.fleet?.units ?? []) found.push({ kind: "unit", name: each.name, note: each.directory, to: href("fleet", "", { unit: each.name }) });
  for (const each of doc.files) found.push({ kind: "file", name: each.name, note: "", to: href("source", each.name) });
  rows.forEach((row, number) => {
    if (row.path) found.push({ kind: "value", name: row.path, note: oneLine(valueText(row)).slice(0, 80), to: href("configuration", "", { value: valueKey(number) }) });
  });
  everything = found.map((hit) => ({ hit, text: `${hit.name} ${hit.note}`.toLowerCase() }));
  return everything;
}

const MOST = 50;

function search(wanted: string): Hit[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found: [number, Hit][] = [];
  for (const { hit, text } of index()) {
    if (!words.every((word) => text.includes(word))) continue;
    const name = hit.name.toLowerCase();
    const score = (name === wanted ? 0 : name.endsWith(words[0]) ? 1 : name.includes(words[0]) ? 2 : 3) * 1000 + name.length;
    found.push([score, hit]);
  }
  return found.sort((one, other) => one[0] - other[0]).slice(0, MOST).map(([, hit]) => hit);
}

export function Search({ onClose }: { onClose: () => void }): VNode {
  const [wanted, want] = useState("");
  const [chosen, choose] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const hits = useMemo(() => search(wanted.trim()), [wanted]);
  // Before anything is painted: who types fast has the first letters typed by then.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    input.current?.focus();
  }, []);
  useEffect(() => {
    document.getElementById(`hit-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const open = (hit?: Hit) => {
    if (!hit) return;
    onClose();
    go(hit.to);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") choose(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === "ArrowUp") choose(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") open(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog class="search" ref={dialog} onClose={onClose} onClick={(event) => event.target === dialog.current && onClose()} aria-label="Search">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search everything"
        aria-expanded={hits.length > 0}
        aria-controls="hits"
        aria-activedescendant={hits.length ? `hit-${chosen}` : undefined}
        placeholder="Search everything"
        value={wanted}
        onInput={(event) => {
          want(event.currentTarget.value);
          choose(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="hits" role="listbox" aria-label="Results" class="hits">
        {hits.map((hit, at) => (
          <li key={`${hit.kind} ${hit.name}`} id={`hit-${at}`} role="option" aria-selected={at === chosen} class="hit" onClick={() => open(hit)} onPointerMove={() => choose(at)}>
            <span class={`hit-kind mark-${hit.kind}`}>{hit.kind}</span>
            <span class="address">{hit.name}</span>
            <span class="muted hit-note">{hit.note}</span>
          </li>
        ))}
      </ul>
      {!wanted.trim() && (
        <p class="hits-none">
          Values, modules, changes, files. <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes.
        </p>
      )}
      {wanted.trim() && !hits.length && (
        <p class="hits-none" role="status">
          Nothing found
        </p>
      )}
    </dialog>
  );
}
