import { type Controller, controller, isApiError, scoped } from "setpoint";
import { Namespace } from "setpoint/kinds/v1";
import { type AssignmentOptions, DEFAULT_OPTIONS, decide, isOurs, ownerOf } from "./assignment.js";
import { Project } from "./project.js";
import { foldLoosely, projectNames } from "./project-match.js";

export interface RancherProjectsOptions extends Partial<AssignmentOptions> {
  /** The manager's name for the cluster with Rancher's management API. Defaults to the own cluster. */
  readonly managementCluster?: string;
}

const NAMES = "names";

/**
 * Assigns each namespace with the label `appOwner` to the Rancher project of that name. Reads projects through an index
 * of names, so that a new, renamed or deleted project requeues only the namespaces that refer to it.
 */
export function rancherProjects(options: RancherProjectsOptions = {}): Controller<Namespace> {
  const { managementCluster: cluster, ...given } = options;
  const settings: AssignmentOptions = { ...DEFAULT_OPTIONS, ...given };
  const projects = scoped(Project, {
    namespaces: "all",
    indexes: { [NAMES]: projectNames },
    ...(cluster === undefined ? {} : { cluster }),
  });
  return controller(Namespace, {
    name: "rancher-projects",
    uses: [projects],
    writes: ["patch"],
    when: { changed: ["metadata.labels", "metadata.annotations", "metadata.deletionTimestamp"] },
    async reconcile(namespace, ctx) {
      if (!isOurs(namespace, settings.exclude)) return;
      const owner = ownerOf(namespace);
      const access = cluster === undefined ? ctx : ctx.in(cluster);
      const named = owner === "" ? [] : await access.byIndex(Project, { [NAMES]: foldLoosely(owner) });
      const decision = decide(namespace, named, settings);
      if (decision.type === "refuse") ctx.event("Warning", decision.refusal.reason, decision.refusal.message);
      if (decision.type !== "patch") return;
      try {
        await ctx.patch(Namespace, namespace.metadata.name, { type: "merge", body: decision.patch });
      } catch (error) {
        if (isDenial(error)) ctx.event("Warning", "AssignmentDenied", `${error.message}; ${DENIAL_HINT}`);
        throw error;
      }
      ctx.event("Normal", "ProjectAssigned", decision.message);
    },
  });
}

const DENIAL_HINT =
  "Rancher's webhook asks for the verb manage-namespaces on the project: grant it to this operator's account";

function isDenial(error: unknown): error is Error {
  return (
    isApiError(error, "API_FORBIDDEN") || (isApiError(error) && /denied the request|Unauthorized/.test(error.message))
  );
}
