import type { KubeObject } from "setpoint";
import { SetpointError } from "setpoint";
import type { Status } from "../../api/status-error.js";
import { WorkLoop } from "../../registry/loops/work-loop.js";
import type { Change } from "../../storage/storage.js";
import { callPlane } from "./plane-call.js";
import type { LoopOptions } from "./role-aggregation.js";

const NAMESPACES = "/namespaces";
const ACCOUNTS = "/serviceaccounts";
const CONFIG_MAPS = "/configmaps";
const ACCOUNT = "default";
const ROOT_CA = "kube-root-ca.crt";
const USER_AGENT = "kube-controller-manager";
const DESCRIPTION_KEY = "kubernetes.io/description";
const DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface FurnishingOptions extends LoopOptions {
  /** PEM of the authority of the server certificate. */
  readonly rootCa: string;
}

/** Creates the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in every namespace, and restores them. */
export class NamespaceFurnishing implements AsyncDisposable {
  readonly #options: FurnishingOptions;
  readonly #loop: WorkLoop;
  readonly #subscriptions: readonly Disposable[];

  constructor(options: FurnishingOptions) {
    this.#options = options;
    this.#loop = new WorkLoop(options, (namespace, signal) => this.#furnish(namespace, signal));
    const { storage } = options;
    const follow = (resource: string, concerns: (change: Change) => string | undefined): Disposable =>
      storage.subscribe(resource, storage.revision, {
        changes: (changes) => {
          for (const change of changes) {
            const namespace = concerns(change);
            if (namespace !== undefined) this.#loop.add(namespace);
          }
        },
        ended: () => {},
      });
    const named = (name: string, isConcerned: (change: Change) => boolean) => (change: Change) => {
      const { metadata } = change.current.object;
      return metadata.name === name && isConcerned(change) ? metadata.namespace : undefined;
    };
    this.#subscriptions = [
      follow(NAMESPACES, ({ type, current }) => (type === "deleted" ? undefined : current.object.metadata.name)),
      follow(
        ACCOUNTS,
        named(ACCOUNT, ({ type }) => type === "deleted"),
      ),
      follow(
        CONFIG_MAPS,
        named(ROOT_CA, ({ type }) => type !== "added"),
      ),
    ];
    for (const { key } of storage.snapshot(NAMESPACES)!.entries()) this.#loop.add(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#loop[Symbol.asyncDispose]();
  }

  async #furnish(namespace: string, signal: AbortSignal): Promise<void> {
    const { storage } = this.#options;
    const home = storage.get(NAMESPACES, namespace)?.object as Namespace | undefined;
    if (!home || home.metadata.deletionTimestamp || home.status?.phase === "Terminating") return;
    const rootCa = this.#rootCa(namespace, storage.get(CONFIG_MAPS, `${namespace}/${ROOT_CA}`)?.object);
    if (rootCa) await this.#write(rootCa.method, rootCa.target, rootCa.body, signal);
    if (storage.get(ACCOUNTS, `${namespace}/${ACCOUNT}`)) return;
    await this.#write(
      "POST",
      `/api/v1/namespaces/${namespace}/serviceaccounts`,
      { metadata: { name: ACCOUNT } },
      signal,
    );
  }

  /** The write that corrects the ConfigMap; undefined if it is correct. */
  #rootCa(namespace: string, current: ConfigMap | undefined) {
    const data = { "ca.crt": this.#options.rootCa };
    const collection = `/api/v1/namespaces/${namespace}/configmaps`;
    const annotations = { ...current?.metadata.annotations, [DESCRIPTION_KEY]: DESCRIPTION };
    if (!current) {
      return { method: "POST", target: collection, body: { metadata: { name: ROOT_CA, annotations }, data } } as const;
    }
    const { "ca.crt": kept, ...others } = current.data ?? {};
    const isRight = kept === data["ca.crt"] && Object.keys(others).length === 0;
    if (isRight && current.metadata.annotations?.[DESCRIPTION_KEY]) return undefined;
    const body = { ...current, metadata: { ...current.metadata, annotations }, data };
    return { method: "PUT", target: `${collection}/${ROOT_CA}`, body } as const;
  }

  async #write(method: "POST" | "PUT", target: string, body: object, signal: AbortSignal): Promise<void> {
    const { refusal } = await callPlane(this.#options.handler, { method, target, body, userAgent: USER_AGENT }, signal);
    if (refusal && !isHarmless(refusal)) throw new SetpointError("LOOP_REFUSED", refusal.message);
  }
}

/** Another client created it, or its namespace is being deleted. */
function isHarmless({ reason, details }: Status): boolean {
  const isGoing = details?.causes?.some((cause) => cause.reason === "NamespaceTerminating");
  return reason === "AlreadyExists" || reason === "NotFound" || isGoing === true;
}
