import type { KubeObject } from "setpoint";
import { forbidden } from "../../api/status-error.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";

/**
 * One of the real server's plugins for a single kind. Returns the new object, or throws a `StatusError` to reject it.
 */
export type Admitter = (object: KubeObject, attributes: AdmissionAttributes) => KubeObject | Promise<KubeObject>;

/** One plugin that runs the admitters of each storage id. Writes to other kinds skip it. */
export function kindAdmission(
  name: string,
  admitters: Readonly<Record<string, readonly Admitter[]>>,
): Required<Pick<AdmissionPlugin, "name" | "concerns" | "mutate">> {
  const byResource = new Map(Object.entries(admitters));
  return {
    name,
    concerns: ({ definition }) => byResource.has(definition.storageId),
    async mutate(attributes) {
      const { object, definition, subresource } = attributes;
      const steps = byResource.get(definition.storageId);
      if (steps === undefined || object === undefined || subresource !== "") return object;
      let current = object;
      for (const step of steps) current = await step(current, attributes);
      return current;
    },
  };
}

/** The 403 of a plugin, for the object of the write. */
export function refused({ definition, name, object }: AdmissionAttributes, why: string): Error {
  const { group, plural } = definition;
  return forbidden({ group, resource: plural }, name || object?.metadata.generateName || "", why);
}

/** The newest class with a default annotation. Among classes of the same second, the first by name. */
export function defaultClass(classes: Iterable<{ readonly object: KubeObject }>, annotations: readonly string[]) {
  const chosen = [...classes].filter(({ object }) =>
    annotations.some((annotation) => object.metadata.annotations?.[annotation] === "true"),
  );
  const rank = ({ object }: { readonly object: KubeObject }): string => object.metadata.creationTimestamp ?? "";
  chosen.sort((a, b) =>
    rank(a) === rank(b) ? (a.object.metadata.name < b.object.metadata.name ? -1 : 1) : rank(a) > rank(b) ? -1 : 1,
  );
  return chosen[0]?.object;
}
