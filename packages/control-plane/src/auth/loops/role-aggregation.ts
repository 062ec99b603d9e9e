import type { KubeObject } from "setpoint";
import { SetpointError } from "setpoint";
import type { Clock } from "setpoint/clock";
import { isSameJson } from "setpoint/kinds";
import type { ApiHandler } from "../../api/api-request.js";
import type { Json } from "../../api/json.js";
import { type LoopLog, WorkLoop } from "../../registry/loops/work-loop.js";
import { type ObjectLabelSelector, selectorOf } from "../../registry/selectors/object-label-selector.js";
import type { Storage } from "../../storage/storage.js";
import type { PolicyRule } from "../rbac/policy-rule.js";
import { callPlane } from "./plane-call.js";

const RESOURCE = "rbac.authorization.k8s.io/clusterroles";
const MANAGER = "clusterrole-aggregation-controller";

interface ClusterRole extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly ObjectLabelSelector[] | null } | null;
}

export interface LoopOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly handler: ApiHandler;
  readonly log: LoopLog;
}

/** Keeps the rules of aggregated ClusterRoles (admin, edit, view) equal to those of the roles that they select. */
export class RoleAggregation implements AsyncDisposable {
  readonly #options: LoopOptions;
  readonly #loop: WorkLoop;
  readonly #subscription: Disposable;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#loop = new WorkLoop(options, (name, signal) => this.#aggregate(name, signal));
    this.#subscription = options.storage.subscribe(RESOURCE, options.storage.revision, {
      changes: () => this.#addAll(),
      ended: () => {},
    });
    this.#addAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#loop[Symbol.asyncDispose]();
  }

  /** Any role may belong to any aggregated role, so queue them all; there are few. */
  #addAll(): void {
    for (const role of this.#roles()) if (role.aggregationRule) this.#loop.add(role.metadata.name);
  }

  #roles(): readonly ClusterRole[] {
    return [...this.#options.storage.snapshot(RESOURCE)!.entries()].map(({ object }) => object as ClusterRole);
  }

  async #aggregate(name: string, signal: AbortSignal): Promise<void> {
    const roles = this.#roles();
    const role = roles.find(({ metadata }) => metadata.name === name);
    if (!role?.aggregationRule || role.metadata.deletionTimestamp) return;
    const rules = aggregatedRules(role, roles);
    if (isSameJson(rules as unknown as Json, (role.rules ?? []) as unknown as Json)) return;
    const { refusal } = await callPlane(
      this.#options.handler,
      {
        method: "PATCH",
        target: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${encodeURIComponent(name)}?fieldManager=${MANAGER}&force=true`,
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules },
        userAgent: MANAGER,
      },
      signal,
    );
    if (refusal) throw new SetpointError("LOOP_REFUSED", refusal.message);
  }
}

/** The rules of the selected roles without duplicates, ordered by selector and name. */
export function aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): readonly PolicyRule[] {
  const rules: PolicyRule[] = [];
  const seen = new Set<string>();
  const sorted = [...all].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matches = selectorOf(selector);
    for (const { metadata, rules: own } of sorted) {
      if (metadata.name === role.metadata.name || !matches(metadata.labels)) continue;
      for (const rule of own ?? []) {
        const { apiGroups, nonResourceURLs, resourceNames, resources, verbs } = rule;
        const key = JSON.stringify([apiGroups, nonResourceURLs, resourceNames, resources, verbs]);
        if (!seen.has(key)) rules.push(rule);
        seen.add(key);
      }
    }
  }
  return rules;
}
