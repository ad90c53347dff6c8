// Source files: each expression leads to its values, in every instance of the module.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { FullValue } from "./chain";
import type { Mark } from "./code";
import { Code, lineAt, lineStarts } from "./code";
import type { Place, ValueRow } from "./document";
import { doc, rows, valueKey } from "./document";
import type { Route } from "./route";
import { change, href } from "./route";
import { Empty, Icon, Missing, ValueText } from "./ui";
import { Virtual } from "./virtual";

interface Spot {
  start: number;
  end: number;
  values: number[];
  /** Values of a part of an expression, with what that belongs to. */
  parts: { of: number; text: number; phase: ValueRow["phase"] }[];
}

/** Every expression and reference of a file with the values that it has. */
const spotsOf = new Map<number, Spot[]>();
function spots(file: number): Spot[] {
  let found = spotsOf.get(file);
  if (found) return found;
  const byPlace = new Map<string, Spot>();
  const spotAt = (place: Place): Spot => {
    const key = `${place[1]}-${place[2]}`;
    let spot = byPlace.get(key);
    if (!spot) byPlace.set(key, (spot = { start: place[1], end: place[2], values: [], parts: [] }));
    return spot;
  };
  const note = (place: Place | null | undefined, values: number[]) => {
    if (!place || place[0] !== file || !values.length) return;
    const spot = spotAt(place);
    for (const each of values) if (!spot.values.includes(each)) spot.values.push(each);
  };
  rows.forEach((row, number) => {
    note(row.expr ?? row.at, [number]);
    if (row.expr) note(row.at, [number]);
    row.links?.forEach(([place, values]) => note(place, values));
    row.parts?.forEach(([place, text, phase]) => place && place[0] === file && spotAt(place).parts.push({ of: number, text, phase }));
  });
  found = [...byPlace.values()].sort((one, other) => one.start - other.start || other.end - one.end);
  spotsOf.set(file, found);
  return found;
}

export function Source({ route }: { route: Route }): VNode {
  const named = doc.files.findIndex((each) => each.name === route.rest);
  const file = named < 0 ? 0 : named;
  const [start, end] = (route.options.get("at") ?? "").split("-").map(Number);
  const at: Place | undefined = Number.isFinite(end) ? [file, start, end] : undefined;
  const here = useMemo(() => (at ? around(file, at[1], at[2]) : []), [file, start, end]);
  if (!doc.files.length) return <Empty title="There are no files to show" />;
  return (
    <div class={`split ${here.length ? "has-panel" : ""}`}>
      <nav class="side" aria-label="Files">
        <h2 class="side-title">
          Files <span class="count">{doc.files.length}</span>
        </h2>
        <ul class="tree file-tree">
          {doc.files.map((each, number) => (
            <li key={each.name}>
              <a class="tree-item" href={href("source", each.name)} aria-current={number === file ? "page" : undefined}>
                <Icon name="file" />
                <span class="tree-name">{each.name}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="main">
        {route.rest && named < 0 && <Missing name={route.rest} />}
        <header class="main-head">
          <h2 class="address">{doc.files[file].name}</h2>
        </header>
        <FileText file={file} at={at} route={route} />
      </div>
      {here.length > 0 && <SpotPanel here={here} route={route} />}
    </div>
  );
}

/** The expressions around a place, the innermost first. */
function around(file: number, start: number, end: number): Spot[] {
  return spots(file)
    .filter((each) => each.start <= start && each.end >= end)
    .sort((one, other) => one.end - one.start - (other.end - other.start));
}

/** For each line of a file the expressions that it has a part of, the outermost first. */
const spotsByLine = new Map<number, Spot[][]>();
function lineSpots(file: number): Spot[][] {
  let found = spotsByLine.get(file);
  if (!found) {
    found = lineStarts(file).map(() => []);
    for (const spot of spots(file)) {
      const last = lineAt(file, Math.max(spot.start, spot.end - 1));
      for (let line = lineAt(file, spot.start); line <= last; line++) found[line].push(spot);
    }
    spotsByLine.set(file, found);
  }
  return found;
}

function FileText({ file, at, route }: { file: number; at?: Place; route: Route }): VNode {
  const starts = lineStarts(file);
  const text = doc.files[file].text;
  const here = at ? lineAt(file, at[1]) : -1;
  const numbers = useMemo(() => starts.map((_, line) => line), [file]);
  const choose = (spot: Spot) => change(route, { at: `${spot.start}-${spot.end}` }, false);
  const show = (line: number) => {
    const from = starts[line];
    const to = line + 1 < starts.length ? starts[line + 1] - 1 : text.length;
    const marks: Mark[] = at && at[1] < to && at[2] > from ? [{ start: at[1], end: at[2], kind: "code-here" }] : [];
    for (const spot of lineSpots(file)[line]) {
      marks.push({
        start: spot.start,
        end: spot.end,
        kind: "code-spot",
        label: `Values of ${text.slice(spot.start, Math.min(spot.end, spot.start + 60))}`,
        onClick: () => choose(spot),
      });
    }
    return (
      <div class={`code-line ${line === here ? "code-line-here" : ""}`}>
        <span class="code-number">{line + 1}</span>
        <span class="code-text">
          <Code file={file} start={from} end={to} marks={marks} />
        </span>
      </div>
    );
  };
  return <Virtual key={file} items={numbers} keyOf={String} estimate={() => 20} render={show} label={`Text of ${doc.files[file].name}`} class="code file" reveal={here < 0 ? undefined : String(here)} />;
}

function SpotPanel({ here, route }: { here: Spot[]; route: Route }): VNode {
  const text = doc.files[doc.files.findIndex((each) => each.name === route.rest)]?.text ?? "";
  return (
    <section class="panel" aria-label="Values at the cursor">
      <header class="panel-head">
        <h2>Values here</h2>
        <button class="icon-button" onClick={() => change(route, { at: undefined }, false)} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        {here.map((spot) => (
          <div class="spot" key={`${spot.start}-${spot.end}`}>
            <code class="spot-code">{text.slice(spot.start, Math.min(spot.end, spot.start + 160))}</code>
            {spot.parts.length > 0 && !spot.values.length && (
              <ul class="plain-list">
                {spot.parts.slice(0, 100).map((each, at) => (
                  <li key={at}>
                    <a class="value-link" href={href("configuration", "", { value: valueKey(each.of) })}>
                      <span class="address">{rows[each.of].name}</span>
                      <ValueText row={{ name: "", text: each.text, phase: each.phase }} />
                    </a>
                  </li>
                ))}
              </ul>
            )}
            {spot.values.length === 1 ? (
              <>
                <FullValue number={spot.values[0]} />
                <a href={href("configuration", "", { value: valueKey(spot.values[0]) })}>Where {rows[spot.values[0]].name} comes from</a>
              </>
            ) : (
              <ul class="plain-list">
                {spot.values.slice(0, 100).map((value) => (
                  <li key={value}>
                    <a class="value-link" href={href("configuration", "", { value: valueKey(value) })}>
                      <span class="address">{rows[value].name}</span>
                      <ValueText row={rows[value]} />
                    </a>
                  </li>
                ))}
              </ul>
            )}
          </div>
        ))}
      </div>
    </section>
  );
}
