import type { KubeObject } from "setpoint";
import { forbidden } from "../../api/status-error.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";

/** What one of the real server's plugins makes of an object of its kind. Refuses by throwing a `StatusError`. */
export type Admitter = (object: KubeObject, attributes: AdmissionAttributes) => KubeObject | Promise<KubeObject>;

/** The plugins that look at single kinds, by the resource that these are stored under: others do not pay for them. */
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

/** The refusal of a plugin, in the name of the object that it looked at. */
export function refused({ definition, name, object }: AdmissionAttributes, why: string): Error {
  const { group, plural } = definition;
  return forbidden({ group, resource: plural }, name || object?.metadata.generateName || "", why);
}

/** The newest of the classes that are annotated as the default; by name among those of the same second. */
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
