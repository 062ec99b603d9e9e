import type { PartitionRecord, Stamp, TableFacts } from "../engine/engine.js";
import type { ModelSpec } from "./model-spec.js";
import { isPending } from "./partition-plan.js";
import { dueAt } from "./schedule.js";

/**
 * - `none`: the table is what it should be.
 * - `view`, `replace`: is made anew.
 * - `increment`: a run adds to the table.
 * - `partitions`: partitions are loaded; all of them where `full`.
 * - `tests`: the table stays, its tests run.
 * - `adopt`: the table stays, and counts as built by the new definition.
 * - `share`: becomes a view of the same table in the main schema.
 * - `paused`: waits until somebody asks for a refresh.
 */
export type ModelAction =
  | "none"
  | "view"
  | "replace"
  | "increment"
  | "partitions"
  | "tests"
  | "adopt"
  | "share"
  | "paused";

export interface ModelDecision {
  readonly action: ModelAction;
  /** One sentence, without a name: "its definition has changed". */
  readonly reason: string;
  /** Whether what is there is thrown away first. */
  readonly full: boolean;
  /** Keys of the partitions that were asked for; undefined for all that are to be loaded. */
  readonly keys?: readonly string[];
  /** Whether to look which partitions there are. */
  readonly lists: boolean;
  /** Requests that the run fulfils. */
  readonly fulfils: readonly string[];
}

export interface ModelQuestion {
  readonly spec: ModelSpec;
  /** Of the definition, and for a table that is added to of the definitions that it reads. */
  readonly specHash: string;
  readonly facts: TableFacts;
  /** Versions of what the model reads, as a stamp keeps them. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The ledger of a model with partitions. */
  readonly partitions?: readonly PartitionRecord[];
  readonly nowMs: number;
  /** Where the model is built in a schema of its own: the stamp of the same table in the main schema. */
  readonly main?: Stamp;
}

/** Whether the model is a table; else it is a view. */
export function isTable({ input, output, incremental, partitions }: ModelSpec): boolean {
  return incremental || partitions !== undefined || (output.materialize ?? input.type !== "sql");
}

/** What a run of a model would do, and why. Pure: `plan` asks the same question. */
export function decideModel(question: ModelQuestion): ModelDecision {
  const { spec, specHash, facts, inputs, partitions = [], nowMs, main } = question;
  const { stamp, requests } = facts;
  const none = (reason: string): ModelDecision => ({ action: "none", reason, full: false, lists: false, fulfils: [] });
  if (spec.refresh.disabled) return none("its refresh is disabled");

  const fulfils = requests.map(({ id }) => id);
  const keys = requests.some((request) => !request.partitions)
    ? undefined
    : requests.flatMap((request) => request.partitions!);
  const asksFull = requests.some(({ full, partitions: some }) => full && !some);
  const build = (reason: string): ModelDecision => {
    const action = spec.partitions ? "partitions" : isTable(spec) ? "replace" : "view";
    return { action, reason, full: true, lists: true, fulfils };
  };
  if (main && isSame(main, specHash, inputs) && !asksFull) {
    const isShared = stamp && stamp.outputVersion === main.outputVersion && facts.type === "view" && !facts.isDrifted;
    if (isShared) return none("it is a view of the main schema");
    return {
      action: "share",
      reason: "its definition and inputs are those of the main schema",
      full: true,
      lists: false,
      fulfils,
    };
  }
  if (asksFull) return build("a full refresh was asked for");

  const wants = isTable(spec) ? "table" : "view";
  const reset = resetReason(question, wants);
  if (reset) {
    if (spec.changeMode === "reset") return build(reset);
    const isKept = spec.changeMode === "patch" && stamp && facts.type === wants && !facts.isDrifted;
    if (!isKept) {
      const reason = `paused: ${reset}, and its change mode is ${spec.changeMode}; manually trigger a full refresh`;
      return { action: "paused", reason, full: false, lists: false, fulfils: [] };
    }
  }

  const normal = normalReason(question);
  if (normal) {
    if (!spec.incremental && !spec.partitions) return build(normal);
    if (!spec.incremental && requests.length === 0) return build(normal);
    if (!spec.partitions) return { action: "increment", reason: normal, full: false, lists: true, fulfils };
    const isChosen = keys !== undefined && requests.length > 0;
    return {
      action: "partitions",
      reason: normal,
      full: false,
      lists: !isChosen,
      fulfils,
      ...(isChosen ? { keys } : {}),
    };
  }
  const pending = partitions.filter(isPending).length;
  if (spec.partitions && pending > 0) {
    const reason = `${pending} of its ${partitions.length} partitions are not loaded`;
    return { action: "partitions", reason, full: false, lists: false, fulfils };
  }
  if (stamp && stamp.testHash !== spec.testHash) {
    return { action: "tests", reason: "its tests have changed", full: false, lists: false, fulfils };
  }
  if (reset)
    return {
      action: "adopt",
      reason: `${reset}; its change mode keeps what was loaded`,
      full: false,
      lists: false,
      fulfils,
    };
  const due = dueAt(spec.refresh, stamp?.builtOn ?? nowMs);
  const next = due === undefined ? "" : `; its schedule is due at ${new Date(due).toISOString()}`;
  return none(`its definition, inputs and tests are those of its table${next}`);
}

/** Why what is there cannot be added to. */
function resetReason(question: ModelQuestion, wants: "table" | "view"): string | undefined {
  const { specHash, facts, inputs, main } = question;
  const { stamp, type } = facts;
  if (!stamp) return (main && differenceFrom(main, question)) ?? "it was never built";
  if (type === "absent") return "its table no longer exists";
  if (facts.isDrifted)
    return type === wants ? `its ${type} was changed by somebody else` : `it is a ${type} and should be a ${wants}`;
  if (stamp.specHash !== specHash) return DEFINITION_CHANGED;
  // A view of the table in the main schema, which is not the right one any more.
  if (type !== wants) return inputsReason(changedInputs(stamp, inputs)) ?? "the table of the main schema has changed";
  return undefined;
}

const DEFINITION_CHANGED = "its definition has changed";

function differenceFrom(stamp: Stamp, { specHash, inputs }: ModelQuestion): string | undefined {
  return stamp.specHash === specHash ? inputsReason(changedInputs(stamp, inputs)) : DEFINITION_CHANGED;
}

function normalReason({ spec, facts, inputs, nowMs }: ModelQuestion): string | undefined {
  const { stamp, requests } = facts;
  if (requests.length > 0) {
    const isSome = requests.every(({ partitions }) => partitions);
    return isSome ? "a refresh of some partitions was asked for" : "a refresh was asked for";
  }
  if (!stamp) return undefined;
  const changed = changedInputs(stamp, inputs).filter(
    (name) => spec.refresh.onRefs || !isTable(spec) || !/^[A-Z]\w*\//.test(name),
  );
  if (changed.length > 0) return inputsReason(changed);
  const due = dueAt(spec.refresh, stamp.builtOn);
  return due !== undefined && due <= nowMs ? `its schedule was due at ${new Date(due).toISOString()}` : undefined;
}

function inputsReason(changed: readonly string[]): string | undefined {
  const [first, ...rest] = changed;
  if (first === undefined) return undefined;
  return rest.length === 0 ? `${first} has changed` : `${first} and ${rest.length} more inputs have changed`;
}

function changedInputs(stamp: Stamp, inputs: Readonly<Record<string, string>>): readonly string[] {
  const names = new Set([...Object.keys(stamp.inputs), ...Object.keys(inputs)]);
  return [...names].filter((name) => stamp.inputs[name] !== inputs[name]).sort();
}

function isSame(stamp: Stamp, specHash: string, inputs: Readonly<Record<string, string>>): boolean {
  return stamp.specHash === specHash && changedInputs(stamp, inputs).length === 0;
}
