import { isIP } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import { tracked } from "../write/field-ownership.js";
import { update } from "../write/update.js";
import { planeRequest } from "./plane-write.js";
import { type LoopEnvironment, WorkLoop } from "./work-loop.js";

export interface ServerAddress {
  /** The host that the server listens on. */
  readonly host: string;
  readonly port: number;
}

const NAMESPACE = "default";
const NAME = "kubernetes";
const MANAGER = "kube-apiserver";
const ENDPOINTS = "/endpoints";
const SLICES = "discovery.k8s.io/endpointslices";
const SERVICES = "/services";

type Desired = Readonly<Record<string, (port: number, address: string | undefined) => object | undefined>>;

/** The desired content of the three objects, except their names. */
const DESIRED: Desired = {
  [SERVICES]: (port) => ({
    metadata: { labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
      clusterIP: "10.0.0.1",
      clusterIPs: ["10.0.0.1"],
      type: "ClusterIP",
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
    },
  }),
  [ENDPOINTS]: (port, ip) =>
    ip === undefined
      ? undefined
      : {
          metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
          subsets: [{ addresses: [{ ip }], ports: [{ name: "https", port, protocol: "TCP" }] }],
        },
  [SLICES]: (port, address) =>
    address === undefined
      ? undefined
      : {
          metadata: { labels: { "kubernetes.io/service-name": NAME } },
          addressType: isIP(address) === 6 ? "IPv6" : "IPv4",
          endpoints: [{ addresses: [address], conditions: { ready: true } }],
          ports: [{ name: "https", port, protocol: "TCP" }],
        },
};

/**
 * Maintains the Service `kubernetes` in `default` and its endpoints at the address of the server. Writes them at the
 * start and reverts changes and deletes.
 */
export class KubernetesService implements AsyncDisposable {
  readonly #environment: LoopEnvironment;
  readonly #port: number;
  readonly #address: string | undefined;
  readonly #loop: WorkLoop;
  readonly #subscriptions: readonly Disposable[];

  constructor(environment: LoopEnvironment, { host, port }: ServerAddress) {
    this.#environment = environment;
    this.#port = port;
    this.#address = advertisedAddress(host, networkInterfaces());
    this.#loop = new WorkLoop(environment, (resource, signal) => this.#write(resource, signal));
    const { storage } = environment;
    this.#subscriptions = Object.keys(DESIRED).map((resource) =>
      storage.subscribe(resource, storage.revision, {
        changes: (changes) => {
          if (changes.some(({ current }) => current.key === `${NAMESPACE}/${NAME}`)) this.#loop.add(resource);
        },
        ended: () => {},
      }),
    );
    for (const resource in DESIRED) this.#loop.add(resource);
  }

  /** Resolves once all pending writes were tried. */
  settled(): Promise<void> {
    return this.#loop.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#loop[Symbol.asyncDispose]();
  }

  async #write(resource: string, signal: AbortSignal): Promise<void> {
    const definition = this.#environment.catalog.stored(resource);
    const desired = DESIRED[resource]!(this.#port, this.#address) as UntypedObject | undefined;
    if (definition === undefined || desired === undefined) return;
    const request = { ...planeRequest(definition, NAMESPACE, MANAGER, signal), fieldManager: MANAGER };
    await update(this.#environment, request, {
      name: NAME,
      createsMissing: true,
      transform: (old) => tracked(this.#environment, request, old, merged(old, desired)),
    });
  }
}

/** Keeps metadata of other clients, but replaces the addresses. */
function merged(old: KubeObject | undefined, desired: UntypedObject): KubeObject {
  const { metadata, spec, ...rest } = desired;
  const before = old as UntypedObject | undefined;
  return {
    ...before,
    ...rest,
    ...(spec !== undefined && { spec: { ...(before?.spec as object | undefined), ...(spec as object) } }),
    metadata: {
      name: NAME,
      namespace: NAMESPACE,
      ...before?.metadata,
      labels: { ...before?.metadata.labels, ...metadata.labels },
    },
  } as KubeObject;
}

/**
 * The real server allows no loopback endpoint. If the server listens on a loopback or on all addresses, advertise the
 * first address of the machine. Undefined if there is none.
 */
export function advertisedAddress(
  host: string,
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string | undefined {
  const isPlain = isIP(host) !== 0 && host !== "0.0.0.0" && host !== "::" && host !== "::1" && !host.startsWith("127.");
  if (isPlain) return host;
  const all = Object.values(interfaces).flatMap((each) => each ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address;
}
