import type { KubeObject } from "setpoint";
import type { AdmissionAttributes } from "./admission.js";
import type { WriteEnvironment, WriteRequest } from "./write-request.js";

type Operation = AdmissionAttributes["operation"];

function attributesOf(
  request: WriteRequest,
  operation: Operation,
  name: string,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
): AdmissionAttributes {
  const { definition, subresource, namespace, options, user, isDryRun, signal } = request;
  return {
    operation,
    definition,
    subresource,
    namespace,
    name,
    object,
    oldObject,
    options,
    user,
    dryRun: isDryRun,
    signal,
  };
}

/** Runs the mutating plugins. Each sees the result of those before it. */
export async function admit(
  { admission }: WriteEnvironment,
  request: WriteRequest,
  operation: Operation,
  name: string,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
): Promise<KubeObject | undefined> {
  let attributes = attributesOf(request, operation, name, object, oldObject);
  for (const plugin of admission) {
    if (plugin.mutate === undefined || plugin.concerns?.(attributes) === false) continue;
    const changed = await plugin.mutate(attributes, request.warn);
    if (changed !== undefined && changed !== attributes.object) attributes = { ...attributes, object: changed };
  }
  const admitted = attributes.object;
  if (admitted === object || admitted === undefined) return admitted;
  // Prune what plugins add, as for clients.
  return request.definition.shape.prune(admitted, object).object;
}

/** Runs the validating plugins. One rejection is enough. */
export async function validateAdmission(
  { admission }: WriteEnvironment,
  request: WriteRequest,
  operation: Operation,
  name: string,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
): Promise<void> {
  const attributes = attributesOf(request, operation, name, object, oldObject);
  for (const plugin of admission) {
    if (plugin.validate === undefined || plugin.concerns?.(attributes) === false) continue;
    await plugin.validate(attributes, request.warn);
  }
}
