// Source texts: tokens of HCL in their colours, and what is highlighted in them.
import type { VNode } from "preact";
import type { Place } from "./document";
import { doc } from "./document";

const TOKENS =
  /(#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("(?:[^"\\\n]|\\.)*")|(<<-?\s*(\w+)[^\n]*\n[\s\S]*?\n\s*\4\b)|\b(true|false|null|-?\d+(?:\.\d+)?)\b|^([ \t]*)(variable|locals|output|resource|data|module|provider|terraform|check|moved|removed|import|ephemeral|dynamic|lifecycle|backend|cloud)\b|\b(var|local|each|count|path|self|module|data|terraform|tofu)(?=\.)|\b(for|in|if|else|endif|endfor)\b|(\w+)(?=\s*\()/gm;

interface Token {
  start: number;
  end: number;
  kind: string;
}

const tokensOf = new Map<number, Token[]>();

function tokens(file: number): Token[] {
  const known = tokensOf.get(file);
  if (known) return known;
  const found: Token[] = [];
  for (const match of doc.files[file].text.matchAll(TOKENS)) {
    const indent = match[6]?.length ?? 0;
    const start = match.index + indent;
    const end = match.index + match[0].length;
    const kind = match[1]
      ? "comment"
      : match[2] || match[3]
        ? "string"
        : match[5]
          ? "number"
          : match[7] || match[9]
            ? "keyword"
            : match[8]
              ? "root"
              : "function";
    found.push({ start, end, kind });
  }
  tokensOf.set(file, found);
  return found;
}

/** The tokens of a stretch of a file. */
function tokensIn(file: number, start: number, end: number): Token[] {
  const all = tokens(file);
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle].end > start) high = middle;
    else low = middle + 1;
  }
  const found: Token[] = [];
  for (let at = low; at < all.length && all[at].start < end; at++) found.push(all[at]);
  return found;
}

export interface Mark {
  start: number;
  end: number;
  kind: string;
  /** What happens on a click, and what a screen reader says. */
  onClick?: (event: Event) => void;
  label?: string;
}

/** A stretch of a file, cut where a token or a mark begins or ends. */
export function Code({ file, start, end, marks }: { file: number; start: number; end: number; marks: Mark[] }): VNode {
  const text = doc.files[file].text;
  const spans = tokensIn(file, start, end);
  const cuts = new Set([start, end]);
  for (const each of [...spans, ...marks]) {
    if (each.start > start && each.start < end) cuts.add(each.start);
    if (each.end > start && each.end < end) cuts.add(each.end);
  }
  const edges = [...cuts].sort((one, other) => one - other);
  const pieces: VNode[] = [];
  let token = 0;
  for (let at = 0; at + 1 < edges.length; at++) {
    const [from, to] = [edges[at], edges[at + 1]];
    while (token < spans.length && spans[token].end <= from) token++;
    const kind = spans[token] && spans[token].start <= from ? `tok-${spans[token].kind}` : "";
    const around = marks.filter((each) => each.start <= from && each.end >= to);
    const inner = around[around.length - 1];
    const names = [kind, ...around.map((each) => each.kind)].filter(Boolean).join(" ");
    const begins = inner?.onClick && inner.start === Math.max(from, inner.start) && inner.start >= from;
    pieces.push(
      inner?.onClick ? (
        <span
          key={from}
          class={`${names} code-link`}
          onClick={inner.onClick}
          role={begins ? "button" : undefined}
          tabIndex={begins ? 0 : undefined}
          aria-label={begins ? inner.label : undefined}
          onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), inner.onClick!(event))}
        >
          {text.slice(from, to)}
        </span>
      ) : (
        <span key={from} class={names || undefined}>
          {text.slice(from, to)}
        </span>
      ),
    );
  }
  return <>{pieces}</>;
}

/** Where the lines of a file begin. */
const startsOf = new Map<number, number[]>();
export function lineStarts(file: number): number[] {
  let found = startsOf.get(file);
  if (!found) {
    found = [0];
    const text = doc.files[file].text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found.push(at + 1);
    startsOf.set(file, found);
  }
  return found;
}

export function lineAt(file: number, offset: number): number {
  const starts = lineStarts(file);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A few lines around a place, with the place highlighted. */
export function Snippet({ at, marks = [], around = 0 }: { at: Place; marks?: Mark[]; around?: number }): VNode {
  const [file, start, end] = at;
  const starts = lineStarts(file);
  const text = doc.files[file].text;
  const first = Math.max(0, lineAt(file, start) - around);
  const last = Math.min(lineAt(file, Math.max(start, end - 1)) + around, first + 11, starts.length - 1);
  const lines: VNode[] = [];
  for (let line = first; line <= last; line++) {
    const to = line + 1 < starts.length ? starts[line + 1] - 1 : text.length;
    lines.push(
      <div class="code-line" key={line}>
        <span class="code-number">{line + 1}</span>
        <span class="code-text">
          <Code file={file} start={starts[line]} end={to} marks={[{ start, end, kind: "code-here" }, ...marks]} />
        </span>
      </div>,
    );
  }
  return (
    <div class="code snippet" tabIndex={0} role="group" aria-label={`${doc.files[file].name} from line ${first + 1}`}>
      {lines}
    </div>
  );
}
