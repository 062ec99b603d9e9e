import type { Container, Pod } from "setpoint/kinds/v1";
import type { ContainerValues } from "./container-values.js";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** The address of the API server in the cluster. */
const KUBERNETES = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };

/** The variables that the kubelet would give a container. Omits those whose source is missing. */
export function environmentOf(pod: Pod, container: Container, values: ContainerValues): ReadonlyMap<string, string> {
  const variables = new Map<string, string>([
    ["PATH", PATH],
    ["HOSTNAME", pod.spec.hostname ?? pod.metadata.name],
    ...Object.entries(KUBERNETES),
  ]);
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const source = configMapRef ? values.configMap(configMapRef.name ?? "") : values.secret(secretRef?.name ?? "");
    for (const [key, value] of source) variables.set(prefix + key, value.toString("utf8"));
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom ? sourceValue(valueFrom, values) : expanded(value ?? "", variables);
    if (found !== undefined) variables.set(name, found);
  }
  return variables.set("HOME", variables.get("HOME") ?? "/root");
}

type Source = NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>;

function sourceValue({ configMapKeyRef, secretKeyRef, fieldRef }: Source, values: ContainerValues): string | undefined {
  if (configMapKeyRef)
    return values
      .configMap(configMapKeyRef.name ?? "")
      .get(configMapKeyRef.key)
      ?.toString("utf8");
  if (secretKeyRef)
    return values
      .secret(secretKeyRef.name ?? "")
      .get(secretKeyRef.key)
      ?.toString("utf8");
  return fieldRef && values.field(fieldRef.fieldPath);
}

/** `$(NAME)` is an earlier variable; `$$(NAME)` is a literal `$(NAME)`. */
function expanded(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^)]+)\)/g, (match, name: string | undefined) =>
    name === undefined ? "$" : (variables.get(name) ?? match),
  );
}
