// The document that Python puts into the page: see nigari.explore.document.

import { KEY } from "./addresses";
import { loaded } from "./load";

/** A file, and where something begins and ends in its text. */
export type Place = [file: number, start: number, end: number];

export interface ValueRow {
  name: string;
  text: number;
  phase: "static" | "missing" | "plan" | "apply" | "error";
  reasons?: string[];
  giver?: string;
  at?: Place;
  expr?: Place;
  path?: string;
  links?: [Place | null, number[]][];
  /** What the expression is made of: where, the text of its value, and when that is known. */
  parts?: [Place | null, number, ValueRow["phase"]][];
}

export type Argument = [name: string, value: number];

export interface Content {
  at?: Place | null;
  arguments?: Argument[];
  blocks?: NestedBlock[];
}

export interface NestedBlock extends Content {
  type: string;
  labels: string[];
}

export interface Repeated extends Content {
  repetition?: number;
  count?: number;
  instances?: { key: string; arguments: Argument[] }[];
}

export interface Declared {
  name: string;
  value: number;
  type?: string;
  description?: string;
  deprecated?: string;
  sensitive?: boolean;
  ephemeral?: boolean;
  required?: boolean;
}

export interface Resource extends Repeated {
  address: string;
  mode: string;
  type: string;
  name: string;
  provider: string;
}

export interface Call extends Repeated {
  name: string;
  address: string;
  providers: Record<string, string>;
  calls: { key: string; source: number; version: number | null; is_installed: boolean }[];
}

export interface Provider extends Repeated {
  address: string;
  provider: string;
  passed?: string;
}

export interface Module {
  address: string;
  /** The name by which the graph of blocks has it, if that is another: it is one for instances that are alike. */
  variant?: string;
  directory: string;
  source?: string;
  version?: string;
  files: number[];
  variables: Declared[];
  locals: Declared[];
  outputs: Declared[];
  resources: Resource[];
  calls: Call[];
  providers: Provider[];
  requires: { name: string; source: string; version: number | null; at: Place | null }[];
}

export type Action = "create" | "update" | "replace" | "delete" | "read" | "forget" | "no-op";

export interface Change {
  address: string;
  action: Action;
  module: string;
  type: string;
  mode: string;
  provider?: string;
  diff: number[];
  steps?: string[];
  why?: string;
  deposed?: string;
  moved?: string;
  imported?: string;
  at?: Place;
  reason?: number;
  /** Another instance of the block whose reasons they are. */
  reason_of?: string;
}

export type ReasonStep = [depth: number, name: string, value: string, remark: string, place: Place | null];

export interface Reason {
  arguments?: { path: string; source: string; forces?: boolean; outside?: boolean; waits?: string[]; at?: Place | null; steps?: ReasonStep[] }[];
  missing?: { address: string; kind: string; keys: string[]; steps: ReasonStep[] };
  triggers?: ReasonStep[];
}

export interface Check {
  kind: string;
  address: string;
  status: string;
  at: Place | null;
  objects: { address: string; messages: string[]; reason?: number }[];
}

export interface Plan {
  mode: string;
  counts: { add: number; change: number; destroy: number; import: number; forget: number };
  targeted: boolean;
  incomplete: boolean;
  timestamp: string;
  changes: Change[];
  unchanged: number;
  outputs: { name: string; action: Action; diff: number; reason?: number }[];
  drift: Change[];
  deferred: { address: string; kind: string; reason: string; chain: string[]; round: number; change: Change | null }[];
  checks: Check[];
  parts: string[];
  reasons: string[];
}

export interface GraphNode {
  address: string;
  kind: string;
  needs: number[];
  module?: string;
  deposed?: string;
}

export interface Problem {
  severity: string;
  summary: string;
  detail: string;
  at: Place | null;
}

export interface ApplyEvent {
  type: string;
  at: number;
  address?: string;
  action?: string;
  provisioner?: string;
  deposed?: string;
  /** Of the journal of an apply. */
  workspace?: string;
  mode?: string;
  operations?: GraphNode[];
  total?: number;
  number?: number;
  times?: number;
  succeeded?: boolean;
  text?: string;
  detail?: string;
  severity?: string;
  /** Of a fleet. */
  unit?: string;
  units?: string[];
  phase?: "plan" | "apply";
  changes?: UnitChanges;
  is_empty?: boolean;
  because_of?: string;
  log?: string;
  apply?: FleetUnfinished | null;
  /** Of tests. */
  files?: Record<string, string[]>;
  file?: string;
  run?: string;
  status?: string;
  where?: string;
  code?: string;
  origins?: string[];
  counts?: Record<string, number>;
  items?: CoverageItem[];
}

export interface CoverageItem {
  kind: string;
  module: string;
  name: string;
  covered: boolean;
  missing: string;
  where: string;
}

export interface FleetUnit {
  name: string;
  directory: string;
  workspace: string | null;
  labels: string[];
  state: string | null;
  needs: string[];
  needed_by: string[];
  problems: { summary: string; detail: string; at: string | null }[];
}

export interface Fleet {
  units: FleetUnit[];
  edges: { unit: string; needs: string; reason: string; address: string; at: string | null }[];
  layers: string[][];
  cycles: string[][];
  /** The last apply of each unit, where there was one. */
  applied: Record<string, UnitApplied>;
  /** What the last plan or apply of the fleet has told. */
  progress: ApplyEvent[];
  /** How far an apply of the fleet is that has not come to its end. */
  unfinished: FleetUnfinished | null;
}

export interface UnitApplied {
  state: "running" | "done" | "failed" | "stopped";
  mode: string;
  start: number;
  end: number;
  done: number;
  running: number;
  counts?: Record<string, number>;
}

export interface FleetUnfinished {
  done: number;
  units: number;
}

/** How much the plan of a unit does. */
export interface UnitChanges {
  add: number;
  change: number;
  destroy: number;
  import: number;
  forget: number;
  outputs: number;
  drift: number;
}

/** What the state says of an instance of a resource. */
export interface StoredObject {
  resource: string;
  key: string;
  values: number[];
  status?: string;
}

export interface PageDocument {
  format: number;
  version: string;
  title: string;
  workspace: string;
  environment: string;
  made?: { at: string; planned?: string; command?: string; commit?: string; is_changed?: boolean };
  configuration: { modules: Module[]; backend?: Content & { type: string } };
  values: { rows: ValueRow[]; texts: string[] };
  plan?: Plan;
  stored?: { objects: StoredObject[]; parts: string[] };
  blocks: GraphNode[];
  operations?: GraphNode[];
  problems: Problem[];
  files: { name: string; text: string }[];
  fleet?: Fleet;
  events?: ApplyEvent[];
  /** Whether there is a server to ask for events. */
  live?: boolean;
  /** Whether somebody wants to follow an apply or a test in particular. */
  applies?: boolean;
  /** Which plan of several it is that are applied one after the other. */
  number?: number;
}

export const doc = loaded.document as PageDocument;

export const isLive = doc.live === true;
export const { rows, texts } = doc.values;

export function valueText(row: ValueRow): string {
  return texts[row.text];
}

/** The line of an offset, counted from one. */
export function lineOf(place: Place): number {
  const text = doc.files[place[0]].text;
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < place[1]; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

const byPath = new Map<string, number>();
rows.forEach((row, number) => row.path && !byPath.has(row.path) && byPath.set(row.path, number));

/** How a value is named in an address of the page. */
export function valueKey(number: number): string {
  const path = rows[number].path;
  return path && byPath.get(path) === number ? path : `#${number}`;
}

export function valueOfKey(key: string): number | undefined {
  if (!key.startsWith("#")) return byPath.get(key);
  const number = Number(key.slice(1));
  return rows[number] ? number : undefined;
}

export const moduleName = (address: string): string => address || "root module";

const variants = new Map(doc.configuration.modules.map((each) => [each.address, each.variant ?? each.address]));

/** The block of an object of a module instance, as the graph of blocks names it. */
export function blockOf(address: string, module: string): string {
  const local = address.slice(module ? module.length + 1 : 0).replace(KEY, "");
  const variant = variants.get(module) ?? module.replace(KEY, "");
  return variant ? `${variant}.${local}` : local;
}
