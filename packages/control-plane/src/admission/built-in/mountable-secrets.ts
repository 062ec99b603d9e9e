import type { KubeObject } from "setpoint";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";
import type { Storage } from "../../storage/storage.js";
import { refused } from "./kind-admission.js";

const ENFORCED = "kubernetes.io/enforce-mountable-secrets";
/** The texts that Go's `strconv.ParseBool` reads as true. */
const TRUE = /^(?:1|t|T|TRUE|true|True)$/;

interface Named {
  readonly name?: string;
}

interface Container extends Named {
  readonly env?: readonly (Named & { readonly valueFrom?: { readonly secretKeyRef?: Named } })[];
  readonly envFrom?: readonly { readonly secretRef?: Named }[];
}

interface Pod extends KubeObject {
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly volumes?: readonly { readonly secret?: { readonly secretName?: string } }[];
    readonly initContainers?: readonly Container[];
    readonly containers?: readonly Container[];
    readonly ephemeralContainers?: readonly Container[];
    readonly imagePullSecrets?: readonly Named[];
  };
}

interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly Named[];
  readonly imagePullSecrets?: readonly Named[];
}

/**
 * Part of the plugin ServiceAccount: if an account enforces mountable secrets, its pods may use only the secrets that
 * the account references.
 */
export function mountableSecrets(storage: Storage): AdmissionPlugin {
  const check = (attributes: AdmissionAttributes): void => {
    const why = refusal(storage, attributes);
    if (why !== undefined) throw refused(attributes, why);
  };
  return {
    name: "ServiceAccount",
    concerns: ({ definition }) => definition.storageId === "/pods",
    async mutate(attributes) {
      check(attributes);
      return attributes.object;
    },
    // Check again, because webhooks may have changed the pod.
    async validate(attributes) {
      check(attributes);
    },
  };
}

function refusal(storage: Storage, attributes: AdmissionAttributes): string | undefined {
  const { operation, subresource, object, namespace } = attributes;
  if (object === undefined) return undefined;
  const { spec } = object as Pod;
  const key = `${namespace}/${spec.serviceAccountName ?? ""}`;
  const account = storage.head("/serviceaccounts", key)?.object as ServiceAccount | undefined;
  if (account === undefined || !TRUE.test(account.metadata.annotations?.[ENFORCED] ?? "")) return undefined;
  const isEphemeral = operation === "UPDATE" && subresource === "ephemeralcontainers";
  if (isEphemeral) return inContainers(account, "ephemeral container", spec.ephemeralContainers);
  if (operation !== "CREATE" || subresource !== "") return undefined;
  return (
    inVolumes(account, spec.volumes) ??
    inContainers(account, "init container", spec.initContainers) ??
    inContainers(account, "container", spec.containers) ??
    inPullSecrets(account, spec.imagePullSecrets)
  );
}

function inVolumes(account: ServiceAccount, volumes: Pod["spec"]["volumes"] = []): string | undefined {
  for (const { secret } of volumes) {
    if (secret && isForeign(account.secrets, secret.secretName))
      return notAllowed(account, `volume with secret.secretName="${secret.secretName}"`);
  }
  return undefined;
}

function inContainers(
  account: ServiceAccount,
  what: string,
  containers: readonly Container[] = [],
): string | undefined {
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const variable of env) {
      const secret = variable.valueFrom?.secretKeyRef;
      if (secret && isForeign(account.secrets, secret.name))
        return notAllowed(
          account,
          `${what} ${name} with envVar ${variable.name} referencing secret.secretName="${secret.name}"`,
        );
    }
    for (const { secretRef } of envFrom) {
      if (secretRef && isForeign(account.secrets, secretRef.name))
        return notAllowed(account, `${what} ${name} with envFrom referencing secret.secretName="${secretRef.name}"`);
    }
  }
  return undefined;
}

function inPullSecrets(account: ServiceAccount, secrets: readonly Named[] = []): string | undefined {
  const index = secrets.findIndex(({ name }) => isForeign(account.imagePullSecrets, name));
  if (index < 0) return undefined;
  return notAllowed(account, `imagePullSecrets[${index}].name="${secrets[index]!.name}"`, "imagePullSecret");
}

function isForeign(secrets: readonly Named[] = [], name = ""): boolean {
  return !secrets.some((secret) => secret.name === name);
}

function notAllowed(account: ServiceAccount, use: string, what = "secret"): string {
  return `${use} is not allowed because service account ${account.metadata.name} does not reference that ${what}`;
}
