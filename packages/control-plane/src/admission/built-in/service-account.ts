import type { KubeObject } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import { generatedName } from "../../registry/write/identity.js";
import type { Storage } from "../../storage/storage.js";
import { type Admitter, refused } from "./kind-admission.js";
import { type Container, type Pod, withSpec } from "./pod.js";

const DEFAULT_ACCOUNT = "default";
const ACCOUNTS = "/serviceaccounts";
const TOKEN_VOLUME = "kube-api-access-";
const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR = "kubernetes.io/config.mirror";

/** A new namespace gets its default account a moment later. A pod waits for the account at most this long. */
const LONGEST_WAIT_MS = 2000;

interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}

export interface ServiceAccountEnvironment {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The plugin ServiceAccount: sets the account of a pod, which must exist, and mounts its token where clients look for
 * it.
 */
export function serviceAccounts(environment: ServiceAccountEnvironment): Admitter {
  return async (object, attributes) => {
    const pod = object as Pod;
    if (attributes.operation !== "CREATE") return pod;
    if (pod.metadata.annotations?.[MIRROR] !== undefined) return mirrored(pod, attributes);
    const name = pod.spec.serviceAccountName || DEFAULT_ACCOUNT;
    const account = await findAccount(environment, attributes, name);
    if (account === undefined) {
      const { namespace } = attributes;
      const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
      throw refused(attributes, why);
    }
    const secrets = account.imagePullSecrets ?? [];
    const named = withSpec(pod, {
      serviceAccountName: name,
      serviceAccount: name,
      ...(!pod.spec.imagePullSecrets?.length && secrets.length > 0 && { imagePullSecrets: secrets }),
    });
    const isMounted = pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
    return isMounted ? withToken(named, environment.random) : named;
  };
}

/** A mirror pod, which shows a static pod of a node, has no account. */
function mirrored(pod: Pod, attributes: AdmissionAttributes): Pod {
  if (pod.spec.serviceAccountName) throw refused(attributes, "a mirror pod may not reference service accounts");
  return pod;
}

async function findAccount(
  { storage, clock }: ServiceAccountEnvironment,
  { namespace, signal }: AdmissionAttributes,
  name: string,
): Promise<ServiceAccount | undefined> {
  const key = `${namespace}/${name}`;
  const find = (): ServiceAccount | undefined => storage.head(ACCOUNTS, key)?.object as ServiceAccount | undefined;
  if (find() !== undefined || name !== DEFAULT_ACCOUNT) return find();
  await new Promise<void>((resolve) => {
    const done = (): void => {
      timer[Symbol.dispose]();
      subscription[Symbol.dispose]();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.timer(LONGEST_WAIT_MS, done);
    const subscription = storage.subscribe(ACCOUNTS, storage.revision, {
      changes: (changes) => {
        if (changes.some(({ current }) => current.key === key)) done();
      },
      ended: done,
    });
    signal.addEventListener("abort", done);
  });
  return find();
}

/** Mounts the token into every container that has no other mount at its path. */
function withToken(pod: Pod, random: Random): Pod {
  const { volumes, initContainers } = { ...pod.spec, volumes: pod.spec.volumes ?? [] };
  // A pod without containers gets this far; validation rejects it later.
  const containers = pod.spec.containers ?? [];
  const present = volumes.find((volume) => volume.name.startsWith(TOKEN_VOLUME));
  const name = present?.name ?? generatedName(TOKEN_VOLUME, random);
  const mount = { name, readOnly: true, mountPath: TOKEN_PATH };
  const needs = ({ volumeMounts = [] }: Container): boolean =>
    !volumeMounts.some(({ mountPath }) => mountPath === TOKEN_PATH);
  const mounted = (container: Container): Container =>
    needs(container) ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] } : container;
  const isNeeded = [...containers, ...(initContainers ?? [])].some(needs);
  return withSpec(pod, {
    ...(containers.length > 0 && { containers: containers.map(mounted) }),
    ...(initContainers && { initContainers: initContainers.map(mounted) }),
    ...(isNeeded && present === undefined && { volumes: [...volumes, { name, projected: TOKEN_SOURCE }] }),
  });
}

const TOKEN_SOURCE = {
  defaultMode: 0o644,
  sources: [
    { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: {
        items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
      },
    },
  ],
};
