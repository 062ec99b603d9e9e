import type { Job } from "setpoint/kinds/batch/v1";
import type { Pod } from "setpoint/kinds/v1";
import { IndexSet } from "./index-set.js";

/** The effect of a failed pod on its Job, by the Job's `podFailurePolicy`. */
export interface FailureVerdict {
  readonly counts: boolean;
  readonly failsIndex: boolean;
  /** Why the whole Job fails, if it does. */
  readonly failsJob?: string;
}

const COUNTS: FailureVerdict = { counts: true, failsIndex: false };

/** The first matching rule decides. Without a match, the failure counts. */
export function failureVerdict({ spec }: Job, pod: Pod): FailureVerdict {
  for (const [at, rule] of (spec?.podFailurePolicy?.rules ?? []).entries()) {
    const match = matchOf(rule, pod);
    if (match === undefined) continue;
    if (rule.action === "FailJob") return { ...COUNTS, failsJob: `${match} matching FailJob rule at index ${at}` };
    if (rule.action === "Ignore") return { counts: false, failsIndex: false };
    return { counts: true, failsIndex: rule.action === "FailIndex" };
  }
  return COUNTS;
}

type Rule = NonNullable<NonNullable<Job["spec"]>["podFailurePolicy"]>["rules"][number];

/** Describes the part of the pod that a rule matches; undefined without a match. */
function matchOf({ onExitCodes, onPodConditions }: Rule, { metadata, status }: Pod): string | undefined {
  const id = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes;
    for (const { name, state } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
      const code = state?.terminated?.exitCode ?? 0;
      if (code === 0 || (containerName && containerName !== name)) continue;
      if (values.includes(code) === (operator === "In")) {
        return `Container ${name} for pod ${id} failed with exit code ${code}`;
      }
    }
    return undefined;
  }
  const met = status?.conditions?.find((condition) =>
    onPodConditions?.some(({ type, status }) => condition.type === type && condition.status === (status ?? "True")),
  );
  return met && `Pod ${id} has condition ${met.type}`;
}

/** The message of the first `successPolicy` rule that the succeeded indexes satisfy. */
export function metSuccessPolicy({ spec }: Job, succeeded: IndexSet): string | undefined {
  const completions = spec?.completions ?? 0;
  if (succeeded.size === 0) return undefined;
  const at = (spec?.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeeded.size >= (succeededCount ?? Number.POSITIVE_INFINITY);
    const wanted = IndexSet.parse(succeededIndexes, completions);
    const met = wanted.sharedSize(succeeded);
    return wanted.size > 0 && met >= Math.min(succeededCount ?? wanted.size, wanted.size);
  });
  return at < 0 ? undefined : `Matched rules at index ${at}`;
}
