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

/** Which of them is needed changes from day to day: a cache that streams today lists after an upgrade, a conflict asks for one. */
const READS = ["get", "list", "watch"];

/** Declared rules held against what a process did. */
export interface NarrowedRules {
  /** The rules, with the verbs alone that were needed so far. */
  readonly rules: readonly RbacRule[];
  /** What was never asked for: perhaps not needed, perhaps not needed yet, as for deletes. */
  readonly unseen: readonly RbacRule[];
}

/**
 * What requests a process made, to confirm or narrow the rules that its loops declare. Give `observe` to the client.
 *
 * ```ts
 * const seen = new SeenAccess();
 * const client = await connect({ observer: (request) => seen.observe(request) });
 * // … later
 * const { rules, unseen } = seen.narrow([websites], rbacRules([websites]));
 * ```
 */
export class SeenAccess {
  /** `Deployment patch`, `Website/status patch`: without groups and names, so that what is alike counts as seen. */
  readonly #seen = new Set<string>();

  /** Also what was refused was needed. */
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
    // No request is made of this one: servers ask for it when owner references are written.
    if (subresource === "finalizers") return true;
    const resource = subresource ? `${kind.kind}/${subresource}` : kind.kind;
    const verbs = READS.includes(verb) ? READS : [verb];
    return verbs.some((each) => this.#seen.has(`${resource} ${each}`));
  }
}

/** The kinds that a rule is about; none for those that are not known here. */
function kindsOf(loops: readonly (Loop | App)[], { cluster, apiGroups, resources }: RbacRule): readonly Kind[] {
  const [plural] = resources[0]!.split("/");
  return [...declaredKinds(loops, cluster), ...OWN_KINDS].filter(
    (kind) => kind.plural === plural && apiGroups.includes(kind.group),
  );
}
