// The chain of a value: what it comes from, step by step, each in its source.
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Mark } from "./code";
import { Snippet } from "./code";
import { rows, valueKey, valueText } from "./document";
import { href } from "./route";
import { Icon, SourceLink, ValueText } from "./ui";

const GIVERS: Record<string, string> = {
  default: "its default",
  argument: "the argument of the module call",
};
const WORDS: Record<string, string> = {
  static: "Known before anything runs",
  missing: "Not known: a variable that it depends on has no value",
  plan: "Known when planning",
  apply: "Known after applying",
  error: "Not available: it has an error",
};

/** The values that a value comes from directly, each once. */
export function sourcesOf(number: number): number[] {
  return [...new Set((rows[number].links ?? []).flatMap(([, values]) => values))];
}

/** Everything that a value takes part in directly. */
let users: number[][] | undefined;
export function usersOf(number: number): number[] {
  if (!users) {
    users = rows.map(() => []);
    rows.forEach((_, from) => sourcesOf(from).forEach((to) => users![to].push(from)));
  }
  return users[number];
}

function giverText(giver?: string): string {
  if (!giver) return "";
  return giver === "none" ? "No value is given" : `Set by ${GIVERS[giver] ?? giver}`;
}

export function Chain({ number, onClose }: { number: number; onClose: () => void }): VNode {
  const row = rows[number];
  const used = usersOf(number);
  return (
    <section class="panel chain" aria-label={`Where ${row.name} comes from`}>
      <header class="panel-head">
        <h2 class="address">{row.name}</h2>
        <button class="icon-button" onClick={onClose} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <FullValue number={number} />
        <p class={`phase-line phase-${row.phase}`}>
          {WORDS[row.phase]}
          {row.giver && <span class="muted"> · {giverText(row.giver)}</span>}
        </p>
        {row.reasons?.map((reason) => (
          <Reason text={reason} key={reason} />
        ))}
        <h3>Where it comes from</h3>
        <Steps number={number} />
        {used.length > 0 && (
          <>
            <h3>
              Used by <span class="count">{used.length}</span>
            </h3>
            <ul class="plain-list">
              {used.slice(0, 200).map((each) => (
                <li key={each}>
                  <ValueLink number={each} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  );
}

function Reason({ text }: { text: string }): VNode {
  const steps = text.split(" ← ");
  return (
    <ol class="reason" aria-label="Why it is not known">
      {steps.map((step, at) => (
        <li key={at}>{step}</li>
      ))}
    </ol>
  );
}

export function FullValue({ number }: { number: number }): VNode {
  const text = valueText(rows[number]);
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > 1200;
  const shown = isLong && !isWhole ? `${text.slice(0, 1200)}…` : text;
  return (
    <div class="full-value">
      <pre tabIndex={0} aria-label="Value">
        {shown}
      </pre>
      {isLong && <button onClick={() => setWhole(!isWhole)}>{isWhole ? "Show less" : "Show all"}</button>}
    </div>
  );
}

export function ValueLink({ number }: { number: number }): VNode {
  return (
    <a class="value-link" href={href("configuration", "", { value: valueKey(number) })}>
      <span class="address">{rows[number].name}</span>
      <ValueText row={rows[number]} />
    </a>
  );
}

interface Step {
  number: number;
  depth: number;
  /** Whether it has been shown further up. */
  isSeen: boolean;
}

const MOST_STEPS = 150;

function stepsOf(start: number): { steps: Step[]; isCut: boolean } {
  const steps: Step[] = [];
  const seen = new Set<number>();
  const pending: [number, number][] = [[start, 0]];
  while (pending.length) {
    const [number, depth] = pending.pop()!;
    const isSeen = seen.has(number);
    steps.push({ number, depth, isSeen });
    if (steps.length >= MOST_STEPS) return { steps, isCut: pending.length > 0 };
    if (isSeen) continue;
    seen.add(number);
    for (const next of sourcesOf(number).reverse()) pending.push([next, depth + 1]);
  }
  return { steps, isCut: false };
}

function Steps({ number }: { number: number }): VNode {
  const { steps, isCut } = useMemo(() => stepsOf(number), [number]);
  return (
    <>
      <ol class="steps">
        {steps.map((step, at) => (
          <StepItem step={step} key={at} />
        ))}
      </ol>
      {isCut && <p class="muted">The chain is longer; open one of its steps to see more.</p>}
    </>
  );
}

function StepItem({ step }: { step: Step }): VNode {
  const row = rows[step.number];
  const place = row.expr ?? row.at;
  const marks: Mark[] = (row.links ?? []).flatMap(([at, values]) =>
    at && place && at[0] === place[0] && values.length
      ? [
          {
            start: at[1],
            end: at[2],
            kind: "code-ref",
            label: `Go to ${rows[values[0]].name}`,
            onClick: () => (location.hash = href("configuration", "", { value: valueKey(values[0]) })),
          },
        ]
      : [],
  );
  return (
    <li class="step" style={{ "--depth": Math.min(step.depth, 8) }}>
      <div class="step-head">
        <a class="address" href={href("configuration", "", { value: valueKey(step.number) })}>
          {row.name}
        </a>
        <ValueText row={row} />
      </div>
      <div class="step-foot">
        <SourceLink at={place} />
        {row.giver && <span class="muted">{giverText(row.giver)}</span>}
        {step.isSeen && <span class="muted">shown above</span>}
      </div>
      {place && !step.isSeen && <Snippet at={place} marks={marks} />}
    </li>
  );
}
