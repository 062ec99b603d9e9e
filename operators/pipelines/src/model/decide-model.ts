import type { PartitionRecord, Stamp, TableFacts } from "../engine/engine.js";
import type { ModelSpec } from "./model-spec.js";
import { isPending } from "./partition-plan.js";
import { dueAt } from "./schedule.js";

/**
 * - `none`: nothing to do.
 * - `view`, `replace`: the run creates the view or table anew.
 * - `increment`: the run adds to the table.
 * - `partitions`: the run loads partitions; all of them if `full`.
 * - `tests`: the table stays; only its tests run.
 * - `adopt`: the table stays, and counts as built by the new definition.
 * - `share`: the model becomes a view of the same table in the main schema.
 * - `paused`: the model waits until somebody requests a full refresh.
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
  /** One sentence without the model's name: "its definition has changed". */
  readonly reason: string;
  /** Whether the run starts from nothing instead of adding to what exists. */
  readonly full: boolean;
  /** Keys of the requested partitions; undefined for all pending ones. */
  readonly keys?: readonly string[];
  /** Whether the run first lists the partitions that exist. */
  readonly lists: boolean;
  /** Ids of the refresh requests that the run fulfils. */
  readonly fulfils: readonly string[];
}

export interface ModelQuestion {
  readonly spec: ModelSpec;
  /** Hash of the definition. For an incremental or partitioned table it also covers the definitions of its inputs. */
  readonly specHash: string;
  readonly facts: TableFacts;
  /** Versions of the model's inputs, in the form that a stamp stores. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The ledger of a partitioned model. */
  readonly partitions?: readonly PartitionRecord[];
  readonly nowMs: number;
  /** Stamp of the same table in the main schema, if the model is built in another schema. */
  readonly main?: Stamp;
}

/** Whether the model is a table; otherwise it is a view. */
export function isTable({ input, output, incremental, partitions }: ModelSpec): boolean {
  return incremental || partitions !== undefined || (output.materialize ?? input.type !== "sql");
}

/** Decides what a run of a model does, and why. Pure, so that `plan` can use it too. */
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

/** Why the existing table or view needs a full rebuild; undefined if it does not. */
function resetReason(question: ModelQuestion, wants: "table" | "view"): string | undefined {
  const { specHash, facts, inputs, main } = question;
  const { stamp, type } = facts;
  if (!stamp) return (main && differenceFrom(main, question)) ?? "it was never built";
  if (type === "absent") return "its table no longer exists";
  if (facts.isDrifted)
    return type === wants ? `its ${type} was changed by somebody else` : `it is a ${type} and should be a ${wants}`;
  if (stamp.specHash !== specHash) return DEFINITION_CHANGED;
  // The model was shared as a view of the main schema, whose table no longer matches.
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
