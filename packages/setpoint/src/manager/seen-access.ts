import type { App } from "../app/app.js";
import type { ObservedRequest } from "../client/client.js";
import type { Loop } from "../controller/loop.js";
import type { RbacRule } from "../controller/rbac-rule.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { TokenReview } from "../kinds/builtin/authentication.k8s.io/v1.js";
import { SubjectAccessReview } from "../kinds/builtin/authorization.k8s.io/v1.js";
import { Event } from "../kinds/builtin/v1.js";
import type { Kind } from "../kinds/kind.js";
import { declaredKinds } from "./declared-kinds.js";

/** Kinds that the manager itself requests. Not Leases: they may be held by another thread's client. */
const OWN_KINDS: readonly Kind[] = [
  ...[Event, TokenReview, SubjectAccessReview],
  ...[CustomResourceDefinition, ValidatingWebhookConfiguration, MutatingWebhookConfiguration],
];

/** Which of these a process needs may change: a cache that streams today lists after an upgrade, and a conflict needs a get. */
const READS = ["get", "list", "watch"];

/** The declared rules compared with the requests of a process. */
export interface NarrowedRules {
  /** The rules with only the verbs that were used so far. */
  readonly rules: readonly RbacRule[];
  /** What was never requested: perhaps not needed, perhaps not yet, such as deletes. */
  readonly unseen: readonly RbacRule[];
}

/**
 * Records a process's requests, to confirm or narrow the rules that its loops declare. Pass `observe` to the client.
 *
 * ```ts
 * const seen = new SeenAccess();
 * const client = await connect({ observer: (request) => seen.observe(request) });
 * // … later
 * const { rules, unseen } = seen.narrow([websites], rbacRules([websites]));
 * ```
 */
export class SeenAccess {
  /** `Deployment patch`, `Website/status patch`: without groups and names, so that similar rules count as used. */
  readonly #seen = new Set<string>();

  /** A refused request counts too: it was needed. */
  observe({ verb, kind, subresource, status }: ObservedRequest): void {
    if (kind === "" || status === 0) return;
    const resource = subresource ? `${kind}/${subresource}` : kind;
    this.#seen.add(`${resource} ${verb === "apply" ? "patch" : verb}`);
    if (verb === "apply" && status === 201) this.#seen.add(`${resource} create`);
  }

  narrow(loops: readonly (Loop | App)[], rules: readonly RbacRule[]): NarrowedRules {
    const split = rules.map((rule) => {
      const kinds = kindsOf(loops, rule);
      const isSeen = (verb: string): boolean => kinds.length === 0 || kinds.some((kind) => this.#has(kind, rule, verb));
      return {
        seen: { ...rule, verbs: rule.verbs.filter(isSeen) },
        unseen: { ...rule, verbs: rule.verbs.filter((verb) => !isSeen(verb)) },
      };
    });
    const some = ({ verbs }: RbacRule): boolean => verbs.length > 0;
    return {
      rules: split.map(({ seen }) => seen).filter(some),
      unseen: split.map(({ unseen }) => unseen).filter(some),
    };
  }

  #has(kind: Kind, { resources }: RbacRule, verb: string): boolean {
    const [, subresource] = resources[0]!.split("/");
    // No request shows this one: servers check it when owner references are written.
    if (subresource === "finalizers") return true;
    const resource = subresource ? `${kind.kind}/${subresource}` : kind.kind;
    const verbs = READS.includes(verb) ? READS : [verb];
    return verbs.some((each) => this.#seen.has(`${resource} ${each}`));
  }
}

/** The kinds of a rule; none for unknown resources. */
function kindsOf(loops: readonly (Loop | App)[], { cluster, apiGroups, resources }: RbacRule): readonly Kind[] {
  const [plural] = resources[0]!.split("/");
  return [...declaredKinds(loops, cluster), ...OWN_KINDS].filter(
    (kind) => kind.plural === plural && apiGroups.includes(kind.group),
  );
}
