import { type Controller, controller, isAlreadyExists, type NewObject, scoped } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { controllerReference } from "../owner-claims.js";
import { isPodOver } from "../pod/pod-state.js";

/** Creates the claims of ephemeral volumes. Leaves a claim of that name with another owner alone. */
export function ephemeralClaimController(): Controller<Pod> {
  return controller(Pod, {
    name: "ephemeral-claims",
    uses: [scoped(PersistentVolumeClaim, { writes: ["create"] })],
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    when: { changed: ["spec"], matches: hasEphemeralVolume },
    async reconcile(pod, ctx) {
      if (isPodOver(pod)) return;
      for (const { name: volume, ephemeral } of pod.spec.volumes ?? []) {
        const template = ephemeral?.volumeClaimTemplate;
        if (!template) continue;
        const name = `${pod.metadata.name}-${volume}`;
        if (await ctx.find(PersistentVolumeClaim, name)) continue;
        const { labels, annotations } = template.metadata ?? {};
        const metadata = {
          namespace: pod.metadata.namespace!,
          name,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ownerReferences: [controllerReference(Pod, pod)],
        };
        try {
          await ctx.create(PersistentVolumeClaim, {
            metadata,
            spec: template.spec,
          } as NewObject<PersistentVolumeClaim>);
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
        }
      }
    },
  });
}

function hasEphemeralVolume({ spec }: Pod): boolean {
  return spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false;
}
