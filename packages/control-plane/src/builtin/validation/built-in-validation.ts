import type { KubeObject } from "setpoint";
import { fieldErrors } from "../../api/error-budget.js";
import { asJson, type Json } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import type { Strategy, StrategyContext } from "../../kinds/strategy.js";
import { changedClusterRules, clusterRules, clusterUpdates } from "./cluster-rules.js";
import { configRules } from "./config-rules.js";
import { endpointRules, endpointSliceUpdate } from "./endpoint-rules.js";
import { changedEventRule, eventRules, eventUpdate } from "./event-rules.js";
import { ingressClassUpdate, networkingRules } from "./networking-rules.js";
import { nodeRule, nodeUpdate } from "./node-rules.js";
import { ephemeralContainersUpdate, resizeUpdate } from "./pod/pod-endpoint-rules.js";
import { podRule, podUpdate } from "./pod/pod-rules.js";
import { podStatusUpdate } from "./pod/pod-status-rules.js";
import { object, type Rule, type UpdateRule } from "./rule.js";
import { serviceRule, serviceUpdate } from "./service-rules.js";
import { statusRules } from "./status-rules.js";
import { claimUpdate } from "./storage/claim-rules.js";
import { csiRules, csiUpdates } from "./storage/csi-rules.js";
import { storageClassUpdate, storageRules, volumeUpdate } from "./storage/storage-rules.js";
import { autoscalingRules } from "./workload/autoscaling-rules.js";
import { batchRules } from "./workload/batch-rules.js";
import { jobStatusUpdate } from "./workload/job-status-rules.js";
import { jobUpdate } from "./workload/job-update-rules.js";
import { policyRules, priorityClassUpdate, quotaUpdate } from "./workload/policy-rules.js";
import { selectorUpdate, statefulSetUpdate, statefulSetUpdateRule, workloadRules } from "./workload/workload-rules.js";

/** Rules for new and changed objects, by `group/plural`. */
const RULES: Readonly<Record<string, Rule>> = {
  "/pods": podRule,
  "/nodes": nodeRule,
  "/services": (value, _path, errors) => serviceRule(object(value), errors),
  ...workloadRules,
  ...batchRules,
  ...configRules,
  ...storageRules,
  ...autoscalingRules,
  ...networkingRules,
  ...policyRules,
  ...endpointRules,
  ...eventRules,
  ...csiRules,
  ...clusterRules,
};

/** Kinds with fewer rules for changed objects than for new ones. */
const CHANGED_RULES: Readonly<Record<string, Rule>> = {
  "apps/statefulsets": statefulSetUpdateRule,
  "scheduling.k8s.io/priorityclasses": () => {},
  "events.k8s.io/events": changedEventRule,
  "storage.k8s.io/csistoragecapacities": () => {},
  ...changedClusterRules,
};

/** Kinds whose updates kube-apiserver validates twice, so that each cause appears twice. */
const TWICE = new Set(["batch/jobs", "/persistentvolumes"]);

const UPDATES: Readonly<Record<string, UpdateRule>> = {
  "/pods": podUpdate,
  "/services": serviceUpdate,
  "/persistentvolumeclaims": claimUpdate,
  "/persistentvolumes": volumeUpdate,
  "/resourcequotas": quotaUpdate,
  "/nodes": nodeUpdate,
  "apps/deployments": selectorUpdate,
  "apps/replicasets": selectorUpdate,
  "apps/daemonsets": selectorUpdate,
  "apps/statefulsets": statefulSetUpdate,
  "batch/jobs": jobUpdate,
  "storage.k8s.io/storageclasses": storageClassUpdate,
  "scheduling.k8s.io/priorityclasses": priorityClassUpdate,
  "networking.k8s.io/ingressclasses": ingressClassUpdate,
  "discovery.k8s.io/endpointslices": endpointSliceUpdate,
  "events.k8s.io/events": eventUpdate,
  ...csiUpdates,
  ...clusterUpdates,
};

/** Rules for subresources other than status and scale, by `group/plural/subresource`. */
const ENDPOINTS: Readonly<Record<string, UpdateRule>> = {
  "/pods/ephemeralcontainers": ephemeralContainersUpdate,
  "/pods/resize": resizeUpdate,
};

/** Rules for `/status`. */
const STATUSES: Readonly<Record<string, UpdateRule>> = {
  ...statusRules,
  "/pods": podStatusUpdate,
  "/nodes": nodeUpdate,
  "batch/jobs": jobStatusUpdate,
};

type Validation = Pick<Strategy, "validate" | "validateUpdate">;

/**
 * kube-apiserver's validation of a built-in kind beyond its metadata. `more` adds rules from elsewhere. Subresources
 * without rules here use only `more`.
 */
export function builtInValidation(id: string, more: Validation): Validation {
  const rule = RULES[id];
  const changed = CHANGED_RULES[id] ?? rule;
  const update = UPDATES[id];
  const status = STATUSES[id];
  if (rule === undefined && update === undefined) return more;
  return {
    validate: (created, context) => {
      const errors: FieldError[] = fieldErrors();
      rule?.(asJson(created) as Json, "", errors);
      return [...errors, ...(more.validate?.(created, context) ?? [])];
    },
    validateUpdate: (next: KubeObject, old: KubeObject, context: StrategyContext) => {
      const others = more.validateUpdate?.(next, old, context) ?? [];
      if (context.subresource === "status") return [...(status?.(asJson(next), asJson(old)) ?? []), ...others];
      if (context.subresource !== "" && context.subresource !== "scale") {
        return [...(ENDPOINTS[`${id}/${context.subresource}`]?.(asJson(next), asJson(old)) ?? []), ...others];
      }
      const errors: FieldError[] = fieldErrors();
      for (let times = TWICE.has(id) ? 2 : 1; times > 0; times--) changed?.(asJson(next) as Json, "", errors);
      return [...errors, ...(update?.(asJson(next), asJson(old)) ?? []), ...others];
    },
  };
}
