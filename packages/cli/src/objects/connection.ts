import { type Client, connect } from "setpoint";
import type { CommandContext, OptionValues } from "setpoint/command";
import type { UntypedKind } from "setpoint/kinds";
import { visible } from "../visible.js";

export function connectTo({ values, env, stderr }: Pick<CommandContext, "values" | "env" | "stderr">): Promise<Client> {
  const [kubeconfig, context] = [values.kubeconfig as string | undefined, values.context as string | undefined];
  const onWarning = (warning: string): void => stderr(`Warning: ${visible(warning)}`);
  return connect({ env, onWarning, ...(kubeconfig ? { kubeconfig } : {}), ...(context ? { context } : {}) });
}

/** The namespace to look in; undefined for all, and for kinds that have none. */
export function namespaceOf(values: OptionValues, client: Client, kind: UntypedKind): string | undefined {
  if (kind.scope === "Cluster" || values["all-namespaces"]) return undefined;
  return (values.namespace as string | undefined) ?? client.namespace;
}

/** As an option of the client's calls, which takes no `undefined`. */
export function inNamespace(namespace: string | undefined): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}
