import { isSameJson } from "setpoint/kinds";
import { fieldErrors } from "../../../api/error-budget.js";
import { forbiddenField, invalidValue, notSupported, required } from "../../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../../api/json.js";
import type { FieldError } from "../../../api/status-error.js";
import { internal, isSameInternal } from "../internal-struct.js";
import { checkPodTemplate } from "../pod/pod-spec-rules.js";
import {
  annotations,
  countOrPercent,
  each,
  given,
  IMMUTABLE,
  isEmpty,
  label1123,
  labels,
  list,
  nonNegative,
  notAboveAll,
  object,
  ofSpec,
  oneOf,
  percentOf,
  pointed,
  type Rule,
  type StructRule,
  struct,
  type UpdateRule,
} from "../rule.js";
import { labelSelector, selects } from "../selector-rules.js";
import { claimSpec } from "../storage/claim-rules.js";

const MISMATCH = "`selector` does not match template `labels`";

/** Requires a non-empty selector that matches the labels of the template. */
function selected(kind: string): StructRule {
  return ({ selector, template }, path, errors) => {
    const at = `${path}.selector`;
    const shown = internal("*meta.LabelSelector", selector);
    const before = errors.length;
    labelSelector(selector, at, errors);
    const isReadable = errors.length === before;
    const isNothing = isObject(selector) && isEmpty(selector.matchLabels) && isEmpty(selector.matchExpressions);
    if (!isObject(selector)) errors.push(required(at));
    if (isNothing) errors.push(invalidValue(at, shown, `empty selector is invalid for ${kind}`));
    if (!isReadable) {
      errors.push(invalidValue(at, shown, kind === "statefulset" ? "" : "invalid label selector"));
    } else if (!isNothing && !(isObject(selector) && selects(selector, labelsOf(template)))) {
      errors.push(invalidValue(`${path}.template.metadata.labels`, labelsShown(template), MISMATCH));
    }
  };
}

const labelsOf = (template: Json | undefined): JsonObject => object(object(object(template).metadata).labels);
const labelsShown = (template: Json | undefined): Json => object(object(template).metadata).labels ?? null;

/** Pods of a lasting workload always restart and have no deadline. */
function lasting(kind: string): StructRule {
  return (spec, path, errors) => {
    const { restartPolicy, activeDeadlineSeconds } = object(object(spec.template).spec);
    const at = `${path}.template.spec`;
    if (restartPolicy !== "Always") errors.push(notSupported(`${at}.restartPolicy`, restartPolicy ?? "", ["Always"]));
    if (activeDeadlineSeconds !== undefined) {
      errors.push(forbiddenField(`${at}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`));
    }
  };
}

function template(kind: string): StructRule {
  return (spec, path, errors) => {
    checkPodTemplate(spec.template, `${path}.template`, errors);
    lasting(kind)(spec, path, errors);
  };
}

/** Applies a rule to the template only if the selector is valid. */
function whereSelectable(rule: StructRule): StructRule {
  return (spec, path, errors) => {
    const found: FieldError[] = fieldErrors();
    labelSelector(spec.selector, "", found);
    if (found.length === 0) rule(spec, path, errors);
  };
}

const share = (value: Json | undefined): number => (typeof value === "number" ? value : (percentOf(value) ?? 0));

const deploymentStrategy = struct({}, (strategy, path, errors) => {
  const { type, rollingUpdate } = strategy;
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
    errors.push(notSupported(path, internal("apps.DeploymentStrategy", strategy), ["Recreate", "RollingUpdate"]));
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

const replicationTemplate = template("ReplicationController");

const replicationController: StructRule = (spec, path, errors) => {
  nonNegative(spec.minReadySeconds, `${path}.minReadySeconds`, errors);
  if (isEmpty(spec.selector)) errors.push(required(`${path}.selector`));
  if (spec.replicas === undefined) errors.push(required(`${path}.replicas`));
  else nonNegative(spec.replicas, `${path}.replicas`, errors);
  if (!isObject(spec.template)) return void errors.push(required(`${path}.template`));
  if (!selects({ matchLabels: object(spec.selector) }, labelsOf(spec.template))) {
    errors.push(invalidValue(`${path}.template.metadata.labels`, labelsShown(spec.template), MISMATCH));
  }
  return replicationTemplate(spec, path, errors);
};

const daemonStrategy = struct({}, (strategy, path, errors) => {
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") {
    const shown = internal("apps.DaemonSetUpdateStrategy", strategy);
    return void errors.push(notSupported(path, shown, ["RollingUpdate", "OnDelete"]));
  }
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
    const found: FieldError[] = fieldErrors();
    labelSelector(spec.selector, "", found);
    const selector = object(spec.selector);
    const isNothing = !isObject(spec.selector);
    if (found.length === 0 && (isNothing || !selects(selector, labelsOf(spec.template)))) {
      errors.push(invalidValue(`${path}.template.metadata.labels`, labelsShown(spec.template), MISMATCH));
    }
    if (!isNothing && isEmpty(selector.matchLabels) && isEmpty(selector.matchExpressions)) {
      const shown = internal("meta.LabelSelector", selector);
      errors.push(invalidValue(`${path}.selector`, shown, "empty selector is invalid for daemonset"));
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
        invalidValue(
          `${path}.rollingUpdate`,
          internal("apps.RollingUpdateStatefulSetStrategy", rollingUpdate),
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
    return undefined;
  }
  if (type !== "RollingUpdate")
    return void errors.push(
      invalidValue(path, internal("apps.StatefulSetUpdateStrategy", value), "must be 'RollingUpdate' or 'OnDelete'"),
    );
  if (!isObject(rollingUpdate)) return undefined;
  nonNegative(rollingUpdate.partition ?? 0, `${path}.rollingUpdate.partition`, errors);
  return undefined;
};

const statefulHead = struct({
  podManagementPolicy: (value, path, errors) => {
    if (isEmpty(value)) errors.push(required(path));
    else if (value !== "OrderedReady" && value !== "Parallel")
      errors.push(invalidValue(path, value, "must be 'OrderedReady' or 'Parallel'"));
  },
  updateStrategy: statefulStrategy,
  persistentVolumeClaimRetentionPolicy: struct({
    whenDeleted: oneOf("Retain", "Delete"),
    whenScaled: oneOf("Retain", "Delete"),
  }),
}) as StructRule;

const statefulTail = struct({ replicas: nonNegative, minReadySeconds: nonNegative }, ({ ordinals }, path, errors) => {
  if (isObject(ordinals)) nonNegative(ordinals.start ?? 0, `${path}.ordinals.start`, errors);
}) as StructRule;

/**
 * The template as the set's pods will have it: without hostname and subdomain, with volumes for the claim templates.
 */
function withIdentity(spec: JsonObject): JsonObject {
  const template = object(spec.template);
  const { subdomain: _subdomain, hostname: _hostname, ...pod } = object(template.spec);
  const claims = new Set(list(spec.volumeClaimTemplates).map((claim) => String(object(claim.metadata).name ?? "")));
  const made = [...claims].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const kept = list(pod.volumes).filter(({ name }) => !claims.has(String(name ?? "")));
  return { ...template, spec: made.length === 0 ? pod : { ...pod, volumes: [...made, ...kept] } };
}

const statefulTemplate: StructRule = (spec, path, errors) => {
  whereSelectable((of, at, found) => {
    const template = withIdentity(of);
    checkPodTemplate(template, `${at}.template`, found);
    // kube-apiserver validates the metadata twice.
    labels(object(template.metadata).labels, `${at}.template.labels`, found);
    annotations(object(template.metadata).annotations, `${at}.template.annotations`, found);
  })(spec, path, errors);
  lasting("StatefulSet")(spec, path, errors);
};

const claimTemplates = each(struct({ spec: (spec, path, errors) => claimSpec(object(spec), path, errors) }));

const statefulSet: StructRule = (spec, path, errors) => {
  statefulHead(spec, path, errors);
  claimTemplates(spec.volumeClaimTemplates, `${path}.volumeClaimTemplates`, errors);
  statefulTail(spec, path, errors);
  given(label1123)(spec.serviceName, `${path}.serviceName`, errors);
  selected("statefulset")(spec, path, errors);
  statefulTemplate(spec, path, errors);
};

/** Immutable fields are not validated again. */
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
    Object.fromEntries(
      Object.entries(spec).filter(([name, value]) => !STATEFUL_MUTABLE.includes(name) && !isEmpty(value)),
    );
  const isSame = isSameJson(rest(object(set.spec)), rest(object(old.spec)));
  return isSame ? [] : [forbiddenField("spec", STATEFUL_FORBIDDEN)];
}

/** A selector is immutable, because it identifies the pods. */
export const selectorUpdate: UpdateRule = (changed, old) => {
  const [now, before] = [object(changed.spec).selector, object(old.spec).selector];
  if (isSameInternal("*meta.LabelSelector", now, before)) return [];
  return [invalidValue("spec.selector", internal("*meta.LabelSelector", now), IMMUTABLE)];
};

export const workloadRules: Readonly<Record<string, Rule>> = {
  "apps/deployments": struct({ spec: deployment }),
  "apps/replicasets": struct({ spec: replicaSet }),
  "apps/daemonsets": struct({ spec: daemonSet }),
  "apps/statefulsets": ofSpec(statefulSet),
  "/replicationcontrollers": ofSpec(replicationController),
  "/podtemplates": (value, _path, errors) => checkPodTemplate(object(value).template, "template", errors),
};

export const statefulSetUpdateRule = ofSpec(statefulSetChanged);
