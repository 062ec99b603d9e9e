import type { KubeObject } from "setpoint";
import { isSameJson, type UntypedObject } from "setpoint/kinds";
import type { Json } from "../api/json.js";
import type { Strategy } from "../kinds/strategy.js";

const GENERATION = "deprecated.daemonset.template.generation";

const templateOf = (daemons: KubeObject): Json =>
  ((daemons as UntypedObject & { spec?: { template?: Json } }).spec?.template ?? null) as Json;

/** The number of template changes. */
export const generationOf = ({ metadata }: KubeObject): number => {
  const text = metadata.annotations?.[GENERATION] ?? "";
  return /^\d+$/.test(text) ? Number(text) : 0;
};

function withGeneration(daemons: KubeObject, generation: number): KubeObject {
  const { metadata } = daemons;
  const annotations = { ...metadata.annotations, [GENERATION]: String(generation) };
  return { ...daemons, metadata: { ...metadata, annotations } };
}

/** A DaemonSet counts its template changes in an annotation, which was once a field. */
export const daemonGeneration: Pick<Strategy, "prepareCreate" | "prepareUpdate"> = {
  prepareCreate: (daemons) => withGeneration(daemons, Math.max(1, generationOf(daemons))),
  prepareUpdate: (daemons, old) => {
    const isChanged = !isSameJson(templateOf(daemons), templateOf(old));
    return withGeneration(daemons, generationOf(old) + (isChanged ? 1 : 0));
  },
};
