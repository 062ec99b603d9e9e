import { type Client, isConflict, type Logger } from "setpoint";
import { createClient, type Transport } from "setpoint/client";
import { type Clock, type Random, systemClock, systemRandom } from "setpoint/clock";
import type { ServiceResolver } from "./admission/webhooks/webhook-caller.js";
import type { UserInfo } from "./api/user.js";
import { authPaths } from "./auth/auth-paths.js";
import { RequestAuthenticator } from "./auth/authenticator.js";
import { type KeyPair, parsePrivateKey } from "./auth/certificates/certificate.js";
import { renewCertificate } from "./auth/certificates/certificate-renewal.js";
import { kubeconfig } from "./auth/certificates/kubeconfig.js";
import { signingKey } from "./auth/jwt.js";
import { RbacAuthorizer, SYSTEM_MASTERS } from "./auth/rbac/rbac-authorizer.js";
import { RoleIndex } from "./auth/rbac/role-index.js";
import { ServiceAccountTokens } from "./auth/service-account-tokens.js";
import { anyOf, staticTokens } from "./auth/token-authenticator.js";
import { flowOf, requestUser, requireAccess } from "./authentication.js";
import { bootstrap } from "./bootstrap.js";
import { type Credentials, openCredentials } from "./credentials.js";
import type { ExecHandler } from "./exec/scripted-answer.js";
import { loadFacts } from "./facts/facts.js";
import type { ApiServer, ApiServerOptions } from "./http/api-server.js";
import { compressing } from "./http/compression.js";
import { inProcessTransport } from "./http/in-process-transport.js";
import { RequestGate } from "./http/request-gate.js";
import { type ErrorLog, safeHandler } from "./http/safe-handler.js";
import { TurnTakingTransport } from "./http/turn-taking-transport.js";
import { Registry } from "./registry/registry.js";
import { ControlPlaneSnapshot } from "./snapshot.js";
import type { StorageLimits } from "./storage/memory-storage.js";
import { openStorage } from "./storage/open-storage.js";
import type { Storage } from "./storage/storage.js";
import { chosenWorkloads, type WorkloadChoice } from "./workloads/workload-choice.js";

export interface ControlPlaneOptions {
  /** Where objects and credentials are stored. Default: in memory, lost with the control plane. */
  readonly dataDir?: string;
  /** Starts with these objects, including uids and resourceVersions. Requires an empty `dataDir`. */
  readonly from?: ControlPlaneSnapshot;
  /** Also serves HTTPS. Default: no socket, only the transport and the client. */
  readonly listen?: ListenOptions;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Receives failures with details that no client sees. Defaults to nothing. */
  readonly log?: ErrorLog;
  /** Static bearer tokens with their users. */
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  /** Resolves the Services of webhooks to an address on this machine or a function. Default: none resolve. */
  readonly services?: ServiceResolver;
  /** How much history is kept for watches and exact lists. */
  readonly limits?: Partial<StorageLimits>;
  /**
   * Controllers that run Deployments, StatefulSets and other workloads on simulated nodes: all, or those named.
   * Default: none, only an API server. If the control plane listens, the controllers start just after it does.
   */
  readonly workloads?: WorkloadChoice;
  /**
   * Whether to do what kube-controller-manager does besides workloads: garbage collection, deleting namespaces,
   * preparing new ones, signing certificates, aggregating roles. Defaults to true. With false, it is an API server
   * like envtest's.
   */
  readonly controllers?: boolean;
  /** Answers commands in containers of simulated pods (`kubectl exec`). */
  readonly exec?: ExecHandler;
  /** Admission plugins to disable, by kube-apiserver's names: `ServiceAccount`, `ResourceQuota`. */
  readonly disabledAdmission?: readonly string[];
  /** Issuer and signing key of service account tokens. Default: a new key of the control plane. */
  readonly serviceAccounts?: ServiceAccountOptions;
}

export interface ServiceAccountOptions {
  /** The issuer in the tokens. Defaults to `https://kubernetes.default.svc.cluster.local`. */
  readonly issuer?: string;
  /** PEM of the private key (P-256 or RSA) that signs the tokens. */
  readonly signingKey?: string;
}

export interface ListenOptions {
  /** Defaults to 127.0.0.1, which only this machine can reach. */
  readonly host?: string;
  /** Defaults to 0: any free port. */
  readonly port?: number;
  /** PEM of the serving certificate. Default: one from the control plane's own authority. */
  readonly certificate?: { readonly certificate: string; readonly privateKey: string };
  /** PEM of an additional authority whose client certificates are trusted. */
  readonly clientCa?: string;
}

/** A running control plane. Disposing it stops it. */
export interface ControlPlane extends AsyncDisposable {
  /** Sends requests in this process, as the administrator, without a socket. */
  readonly transport: Transport;
  /** A client on {@link transport}. */
  readonly client: Client;
  /** `https://127.0.0.1:34567`; undefined if it does not listen. */
  readonly url: string | undefined;
  /** A kubeconfig with an administrator's certificate; undefined if it does not listen. Protect it like a key. */
  readonly kubeconfig: string | undefined;
  /** The newest resourceVersion. */
  readonly revision: number;
  /** All current objects. Takes the same time for any number of objects. */
  snapshot(): ControlPlaneSnapshot;
  /**
   * Starts another control plane with the objects of this one. Neither sees the other's later writes. It has the same
   * clock, random source and workloads, unless `options` override them, no socket, and its own credentials.
   */
  fork(options?: Omit<ControlPlaneOptions, "dataDir" | "from">): Promise<ControlPlane>;
  /** Ends watches, lets writes in flight finish and closes the storage, within two seconds. Idempotent. */
  stop(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const ISSUER = "https://kubernetes.default.svc.cluster.local";
const CLUSTER_NAMES = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.0.0.1"];

/**
 * Starts a Kubernetes-compatible API server in this process. Many can run side by side.
 *
 * Rejects with a `StorageFailure` if the data directory is locked, damaged, of another version or not writable, or if
 * it is not empty and `from` is given. Rejects with Node's error if the address is not available.
 *
 * ```ts
 * await using plane = await controlPlane();
 * const namespaces = await plane.client.list(Namespace);
 * ```
 */
export async function controlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const parts: (AsyncDisposable | Disposable)[] = [];
  try {
    return await start(options, parts);
  } catch (error) {
    await disposeAll(parts);
    throw error;
  }
}

async function start(options: ControlPlaneOptions, parts: (AsyncDisposable | Disposable)[]): Promise<ControlPlane> {
  const { clock = systemClock, random = systemRandom, log = () => {}, dataDir, limits } = options;
  const facts = await loadFacts();
  const storage = keep(
    parts,
    openStorage({
      clock,
      ...(dataDir !== undefined && { dataDir }),
      ...(limits && { limits }),
      ...(options.from && { from: options.from.state }),
      warn: (message) => log(`the data directory ${message}`, undefined),
    }),
  );
  const credentials = openCredentials(dataDir, random);
  const roles = keep(parts, new RoleIndex(storage));
  const authorizer = new RbacAuthorizer(roles);
  const { issuer = ISSUER, signingKey: givenKey } = options.serviceAccounts ?? {};
  const keys = [givenKey === undefined ? credentials.tokenKey : signingKey(parsePrivateKey(givenKey))];
  const audiences = [issuer];
  const serviceAccountTokens = new ServiceAccountTokens({ storage, clock, random, issuer, keys });
  const tokens = anyOf([staticTokens(options.tokens ?? new Map(), audiences), serviceAccountTokens]);
  const auth = { authorizer, rbac: authorizer, tokens, audiences, serviceAccountTokens };
  const authenticate = requestUser(new RequestAuthenticator(auth), authorizer);
  let server: ApiServer | undefined;
  let workloads: { readonly metrics: { exposition(): string } } | undefined;
  const registry: Registry = keep(
    parts,
    new Registry({
      storage,
      clock,
      random,
      facts,
      log,
      controllers: options.controllers ?? true,
      authenticate,
      authorizer,
      moreMetrics: () => workloads?.metrics.exposition() ?? "",
      paths: authPaths({ issuer, keys, url: () => server?.url }),
      writeParts: async () => {
        const { writeParts } = await import("./write-parts.js");
        return writeParts({
          storage,
          clock,
          random,
          roles,
          rbac: authorizer,
          auth,
          catalog: () => registry.environment.catalog,
          ...(options.services && { services: options.services }),
          ...(options.disabledAdmission && { disabled: options.disabledAdmission }),
          ...(options.exec && { exec: options.exec }),
        });
      },
    }),
  );
  await bootstrap(registry.environment);
  await registry.served();
  const handler = compressing(safeHandler(registry.handler, log));
  const transport = keep(parts, inProcessTransport(handler));
  const client = createClient({ transport, server: "in-process", clock, random });
  await credentials.kept;
  const gate = new RequestGate({
    authenticate,
    authorize: (head, user) => requireAccess(authorizer, head, user),
    flowOf,
  });
  if (options.listen) {
    server = keep(parts, await listen(options.listen, { handler, gate, clock, log }, credentials, parts));
  }
  const startControllers = async (running: (AsyncDisposable | Disposable)[]): Promise<void> => {
    const { environment } = await registry.writeSide();
    if (server !== undefined) {
      const { KubernetesService } = await import("./registry/loops/kubernetes-service.js");
      const address = { host: options.listen?.host ?? LOOPBACK, port: server.port };
      keep(running, new KubernetesService({ ...environment, log }, address));
    }
    if (options.controllers ?? true) {
      const { startAuthLoops } = await import("./auth/loops/auth-loops.js");
      const { authority } = credentials;
      for (const loop of startAuthLoops({ storage, clock, handler: registry.handler, log, authority })) {
        keep(running, loop);
      }
    }
    const names = chosenWorkloads(options.workloads);
    if (names.length === 0) return;
    const { startWorkloads } = await import("./workloads/workloads.js");
    const ownTransport = new TurnTakingTransport(transport, clock);
    const ownClient = createClient({ transport: ownTransport, server: "in-process", clock, random });
    const clients = { client, controllerClient: ownClient };
    workloads = keep(running, await startWorkloads({ ...clients, clock, random, names, log: errorLogger(log) }));
  };
  if (server === undefined) await startControllers(parts);
  else keep(parts, startedLater(startControllers, log));
  return running({
    options,
    parts,
    storage,
    transport,
    client,
    url: server?.url,
    kubeconfig: server && adminKubeconfig(server.url, credentials),
  });
}

/** Delays the controllers, so that callers that wait for the server need not wait for them. */
const CONTROLLERS_AFTER_MS = 100;

/** Uses the system clock, because it concerns this process, not the control plane's time. */
function startedLater(
  start: (parts: (AsyncDisposable | Disposable)[]) => Promise<void>,
  log: ErrorLog,
): AsyncDisposable {
  const parts: (AsyncDisposable | Disposable)[] = [];
  let starting: Promise<void> | undefined;
  const timer = systemClock.timer(CONTROLLERS_AFTER_MS, () => {
    starting = start(parts).catch((error: unknown) => log("the controllers do not start", error));
  });
  return {
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await starting;
      await disposeAll(parts);
    },
  };
}

/** Logs failures of the control plane's own controllers. */
function errorLogger(log: ErrorLog): Logger {
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    // A conflict is a normal race, and the controller has already retried.
    error: (message, fields) => (isConflict(fields?.error) ? undefined : log(message, fields?.error)),
    with: () => logger,
  };
  return logger;
}

interface RunningParts
  extends Omit<ControlPlane, "revision" | "snapshot" | "fork" | "stop" | typeof Symbol.asyncDispose> {
  readonly options: ControlPlaneOptions;
  readonly parts: (AsyncDisposable | Disposable)[];
  readonly storage: Storage;
}

function running({ options, parts, storage, ...shown }: RunningParts): ControlPlane {
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= disposeAll(parts));
  const snapshot = () => new ControlPlaneSnapshot(storage.state(), (options.clock ?? systemClock).now());
  return {
    ...shown,
    get revision() {
      return storage.revision;
    },
    snapshot,
    fork: (changed = {}) => {
      const { dataDir: _dataDir, listen: _listen, ...kept } = options;
      return controlPlane({ ...kept, ...changed, from: snapshot() });
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Loads the modules for sockets, which an in-process control plane does not need. */
async function listen(
  { host = LOOPBACK, port = 0, certificate, clientCa }: ListenOptions,
  served: Pick<ApiServerOptions, "handler" | "gate" | "clock" | "log">,
  { authority }: Credentials,
  parts: (AsyncDisposable | Disposable)[],
) {
  const { ApiServer } = await import("./http/api-server.js");
  const names = [...new Set([host, "localhost", LOOPBACK, "::1", ...CLUSTER_NAMES])];
  const issue = () => authority.issueServer("setpoint", names);
  const current = certificate ?? issue();
  const server = await ApiServer.listen({
    ...served,
    host,
    port,
    ...current,
    clientCa: clientCa === undefined ? authority.certificate : `${authority.certificate}\n${clientCa}`,
  });
  if (certificate !== undefined) return server;
  const onRenewed = ({ certificate, privateKey }: KeyPair) => server.useCertificate(certificate, privateKey);
  keep(parts, renewCertificate({ authority, clock: systemClock, current, issue, onRenewed }));
  return server;
}

function adminKubeconfig(server: string, { authority }: Credentials): string {
  const certificate = authority.issueClient({ commonName: "admin", organizations: [SYSTEM_MASTERS] });
  return kubeconfig({
    name: "setpoint",
    server,
    authority: authority.certificate,
    user: { name: "admin", ...certificate },
  });
}

function keep<Part extends AsyncDisposable | Disposable>(parts: (AsyncDisposable | Disposable)[], part: Part): Part {
  parts.push(part);
  return part;
}

/** Disposes in reverse order. */
async function disposeAll(parts: (AsyncDisposable | Disposable)[]): Promise<void> {
  for (const part of parts.splice(0).reverse()) {
    if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]();
    else part[Symbol.dispose]();
  }
}
