import { deepEqual, isObject, type Json, type JsonObject } from "../../../schema/json.js";
import { forbiddenField, invalidValue, notSupported, required } from "../../field-error.js";
import type { FieldError } from "../../status-error.js";
import { claimSpec } from "./claim-rules.js";
import { checkPodTemplate, type TemplateOptions } from "./pod-spec-rules.js";
import {
  countOrPercent,
  given,
  IMMUTABLE,
  isEmpty,
  label1123,
  list,
  nonNegative,
  notAboveAll,
  object,
  oneOf,
  percentOf,
  pointed,
  type Rule,
  type StructRule,
  struct,
} from "./rule.js";
import { labelSelector, selects } from "./selector-rules.js";

const MISMATCH = "`selector` does not match template `labels`";

/** A selector that is there and not empty, and labels of the template that it selects. */
function selected(kind: string): StructRule {
  return ({ selector, template }, path, errors) => {
    const before = errors.length;
    if (!isObject(selector)) errors.push(required(`${path}.selector`));
    labelSelector(selector, `${path}.selector`, errors);
    const isBad = errors.length > before && isObject(selector);
    if (isObject(selector) && isEmpty(selector.matchLabels) && isEmpty(selector.matchExpressions)) {
      errors.push(invalidValue(`${path}.selector`, selector, `empty selector is invalid for ${kind}`));
    }
    if (isBad) {
      errors.push(
        invalidValue(`${path}.selector`, selector ?? null, kind === "statefulset" ? "" : "invalid label selector"),
      );
      return;
    }
    const given = object(object(object(template).metadata).labels);
    const isEmptySelector =
      !isObject(selector) || (isEmpty(selector.matchLabels) && isEmpty(selector.matchExpressions));
    if (!isEmptySelector && !selects(selector, given)) {
      errors.push(invalidValue(`${path}.template.metadata.labels`, labelsShown(template), MISMATCH));
    }
  };
}

const labelsShown = (template: Json | undefined): Json => object(object(template).metadata).labels ?? null;

/** Pods that are made again and again. */
function template(kind: string, optionsOf: (spec: JsonObject) => TemplateOptions = () => ({})): StructRule {
  return (spec, path, errors) => {
    const at = `${path}.template`;
    checkPodTemplate(spec.template, at, errors, optionsOf(spec));
    const { restartPolicy, activeDeadlineSeconds } = object(object(spec.template).spec);
    if (restartPolicy !== "Always")
      errors.push(notSupported(`${at}.spec.restartPolicy`, restartPolicy ?? "", ["Always"]));
    if (activeDeadlineSeconds !== undefined) {
      errors.push(
        forbiddenField(`${at}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`),
      );
    }
  };
}

/** The template is only looked at where its selector can be read. */
function whereSelectable(rule: StructRule): StructRule {
  return (spec, path, errors) => {
    const found: FieldError[] = [];
    labelSelector(spec.selector, "", found);
    if (found.length === 0) rule(spec, path, errors);
  };
}

const share = (value: Json | undefined): number => (typeof value === "number" ? value : (percentOf(value) ?? 0));

const deploymentStrategy = struct({}, ({ type, rollingUpdate }, path, errors) => {
  if (type === "Recreate") {
    if (!isObject(rollingUpdate)) return;
    errors.push(forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"));
  } else if (type === "RollingUpdate") {
    if (!isObject(rollingUpdate))
      return void errors.push(required(`${path}.rollingUpdate`, "this should be defaulted and never be nil"));
    const { maxUnavailable, maxSurge } = rollingUpdate;
    const at = `${path}.rollingUpdate`;
    countOrPercent(maxUnavailable, `${at}.maxUnavailable`, errors);
    countOrPercent(maxSurge, `${at}.maxSurge`, errors);
    if (share(maxUnavailable) === 0 && share(maxSurge) === 0) {
      errors.push(invalidValue(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
    }
    notAboveAll(maxUnavailable, `${at}.maxUnavailable`, errors);
  } else {
    oneOf("Recreate", "RollingUpdate")(type, `${path}.type`, errors);
  }
  return undefined;
});

const deadline: StructRule = ({ progressDeadlineSeconds: seconds, minReadySeconds }, path, errors) => {
  if (typeof seconds !== "number") return;
  nonNegative(seconds, `${path}.progressDeadlineSeconds`, errors);
  if (seconds <= Number(minReadySeconds ?? 0)) {
    errors.push(invalidValue(`${path}.progressDeadlineSeconds`, seconds, "must be greater than minReadySeconds"));
  }
};

const deployment = struct(
  { replicas: nonNegative },
  selected("deployment"),
  whereSelectable(template("ReplicaSet")),
  struct({
    strategy: deploymentStrategy,
    minReadySeconds: nonNegative,
    revisionHistoryLimit: pointed(nonNegative),
  }) as StructRule,
  deadline,
);

const replicaSet = struct(
  { replicas: nonNegative, minReadySeconds: nonNegative },
  selected("deployment"),
  whereSelectable(template("ReplicaSet")),
);

const daemonStrategy = struct({}, ({ type, rollingUpdate }, path, errors) => {
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") return void oneOf("RollingUpdate", "OnDelete")(type, `${path}.type`, errors);
  if (!isObject(rollingUpdate)) return void errors.push(required(`${path}.rollingUpdate`));
  const at = `${path}.rollingUpdate`;
  const { maxUnavailable, maxSurge } = rollingUpdate;
  countOrPercent(maxUnavailable, `${at}.maxUnavailable`, errors);
  countOrPercent(maxSurge, `${at}.maxSurge`, errors);
  notAboveAll(maxUnavailable, `${at}.maxUnavailable`, errors);
  notAboveAll(maxSurge, `${at}.maxSurge`, errors);
  const [lost, added] = [share(maxUnavailable) !== 0, share(maxSurge) !== 0];
  if (lost && added)
    errors.push(invalidValue(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  else if (!lost && !added) errors.push(required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  return undefined;
});

const daemonSet = struct(
  { selector: labelSelector },
  (spec, path, errors) => {
    const found: FieldError[] = [];
    labelSelector(spec.selector, "", found);
    const selector = object(spec.selector);
    const isNothing = !isObject(spec.selector);
    const labels = object(object(object(spec.template).metadata).labels);
    if (found.length === 0 && (isNothing || !selects(selector, labels))) {
      errors.push(invalidValue(`${path}.template.metadata.labels`, labelsShown(spec.template), MISMATCH));
    }
    if (!isNothing && isEmpty(selector.matchLabels) && isEmpty(selector.matchExpressions)) {
      errors.push(invalidValue(`${path}.selector`, selector, "empty selector is invalid for daemonset"));
    }
  },
  template("DaemonSet"),
  struct({
    minReadySeconds: nonNegative,
    updateStrategy: daemonStrategy,
    revisionHistoryLimit: pointed(nonNegative),
  }) as StructRule,
);

const statefulStrategy: Rule = (value, path, errors) => {
  const { type, rollingUpdate } = object(value);
  if (!type) return void errors.push(required(path));
  if (type === "OnDelete") {
    if (isObject(rollingUpdate))
      errors.push(
        invalidValue(`${path}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'"),
      );
    return undefined;
  }
  if (type !== "RollingUpdate")
    return void errors.push(invalidValue(path, object(value), "must be 'RollingUpdate' or 'OnDelete'"));
  if (!isObject(rollingUpdate)) return undefined;
  nonNegative(rollingUpdate.partition ?? 0, `${path}.rollingUpdate.partition`, errors);
  if (rollingUpdate.maxUnavailable === undefined) return undefined;
  const at = `${path}.rollingUpdate.maxUnavailable`;
  countOrPercent(rollingUpdate.maxUnavailable, at, errors);
  if (share(rollingUpdate.maxUnavailable) === 0)
    errors.push(invalidValue(at, rollingUpdate.maxUnavailable, "cannot be 0"));
  notAboveAll(rollingUpdate.maxUnavailable, at, errors);
  return undefined;
};

const claimNames = (spec: JsonObject): readonly string[] =>
  list(spec.volumeClaimTemplates).map((claim) => String(object(claim.metadata).name ?? ""));

const statefulHead = struct({
  podManagementPolicy: (value, path, errors) => {
    if (isEmpty(value)) errors.push(required(path));
    else if (value !== "OrderedReady" && value !== "Parallel")
      errors.push(invalidValue(path, value, "must be 'OrderedReady' or 'Parallel'"));
  },
  updateStrategy: statefulStrategy,
  persistentVolumeClaimRetentionPolicy: struct({
    whenDeleted: oneOf("Delete", "Retain"),
    whenScaled: oneOf("Delete", "Retain"),
  }),
}) as StructRule;

const statefulTail = struct({ replicas: nonNegative, minReadySeconds: nonNegative }, ({ ordinals }, path, errors) => {
  if (isObject(ordinals)) nonNegative(ordinals.start ?? 0, `${path}.ordinals.start`, errors);
}) as StructRule;

const statefulTemplate = whereSelectable(
  template("StatefulSet", (spec) => ({ ignoredSpec: ["subdomain", "hostname"], extraVolumes: claimNames(spec) })),
);

const claimTemplates: Rule = (value, path, errors) => {
  for (const [index, claim] of list(value).entries()) {
    const at = `${path}[${index}]`;
    if (isEmpty(object(claim.metadata).name)) errors.push(required(`${at}.metadata.name`));
    else label1123(object(claim.metadata).name, `${at}.metadata.name`, errors);
    claimSpec(claim.spec, `${at}.spec`, errors);
  }
};

const statefulSet: StructRule = (spec, path, errors) => {
  statefulHead(spec, path, errors);
  claimTemplates(spec.volumeClaimTemplates, `${path}.volumeClaimTemplates`, errors);
  statefulTail(spec, path, errors);
  given(label1123)(spec.serviceName, `${path}.serviceName`, errors);
  selected("statefulset")(spec, path, errors);
  statefulTemplate(spec, path, errors);
};

/** What cannot change any more is not looked at again. */
const statefulSetChanged: StructRule = (spec, path, errors) => {
  statefulHead(spec, path, errors);
  statefulTail(spec, path, errors);
  selected("statefulset")(spec, path, errors);
  statefulTemplate(spec, path, errors);
};

const STATEFUL_MUTABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const STATEFUL_FORBIDDEN =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export function statefulSetUpdate(set: JsonObject, old: JsonObject): FieldError[] {
  const rest = (spec: JsonObject): Json =>
    Object.fromEntries(Object.entries(spec).filter(([name]) => !STATEFUL_MUTABLE.includes(name)));
  const isSame = deepEqual(rest(object(set.spec)), rest(object(old.spec)));
  return isSame ? [] : [forbiddenField("spec", STATEFUL_FORBIDDEN)];
}

/** Says that a field of the spec cannot change. */
export function immutableFields(...names: readonly string[]): (object: JsonObject, old: JsonObject) => FieldError[] {
  return (changed, old) =>
    names.flatMap((name) => {
      const [now, before] = [object(changed.spec)[name], object(old.spec)[name]];
      return deepEqual(now ?? null, before ?? null) ? [] : [invalidValue(`spec.${name}`, now ?? null, IMMUTABLE)];
    });
}

export const workloadRules: Readonly<Record<string, Rule>> = {
  "apps/deployments": struct({ spec: deployment }),
  "apps/replicasets": struct({ spec: replicaSet }),
  "apps/daemonsets": struct({ spec: daemonSet }),
  "apps/statefulsets": (value, _path, errors) => statefulSet(object(object(value).spec), "spec", errors),
  "/replicationcontrollers": (value, _path, errors) =>
    checkPodTemplate(object(object(value).spec).template, "spec.template", errors),
  "/podtemplates": (value, _path, errors) => checkPodTemplate(object(value).template, "template", errors),
};

export const statefulSetUpdateRule: Rule = (value, _path, errors) =>
  statefulSetChanged(object(object(value).spec), "spec", errors);
