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
  /** Where objects and credentials are kept. Left out: all is in memory and gone with the control plane. */
  readonly dataDir?: string;
  /** Begins with these objects, their uids and resourceVersions. The `dataDir` must be empty then. */
  readonly from?: ControlPlaneSnapshot;
  /** Serves HTTPS here as well. Left out: no socket, the transport and the client alone. */
  readonly listen?: ListenOptions;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Receives failures with details that no client sees. Defaults to nothing. */
  readonly log?: ErrorLog;
  /** Static bearer tokens with their users. */
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  /** Where the Services that webhooks name lead to: an address on this machine or a function. Defaults to nowhere. */
  readonly services?: ServiceResolver;
  /** How much of the past is remembered for watches and exact lists. */
  readonly limits?: Partial<StorageLimits>;
  /**
   * Controllers that bring Deployments, StatefulSets and the rest to life on simulated nodes: all, or those named.
   * Defaults to none: an API server alone. Where it listens, they begin just after it does.
   */
  readonly workloads?: WorkloadChoice;
  /**
   * Whether it does what kube-controller-manager does on a real cluster beside the workloads: removing what has no owner
   * any more, emptying namespaces, furnishing new ones, signing certificates, adding up roles. Defaults to true; false is
   * an API server as envtest starts it.
   */
  readonly controllers?: boolean;
  /** Answers commands that are run in containers of simulated pods (`kubectl exec`). */
  readonly exec?: ExecHandler;
  /** Admission plugins that do not run, by the real server's names: `ServiceAccount`, `ResourceQuota`. */
  readonly disabledAdmission?: readonly string[];
  /** Whose tokens service accounts get. Left out: a key of its own. */
  readonly serviceAccounts?: ServiceAccountOptions;
}

export interface ServiceAccountOptions {
  /** Who the tokens say has made them. Defaults to `https://kubernetes.default.svc.cluster.local`. */
  readonly issuer?: string;
  /** PEM of the private key (P-256 or RSA) that signs them. */
  readonly signingKey?: string;
}

export interface ListenOptions {
  /** Defaults to 127.0.0.1: only this machine can reach it. */
  readonly host?: string;
  /** Defaults to 0: any free port. */
  readonly port?: number;
  /** PEM of the certificate to answer with. Left out: one of the control plane's own authority. */
  readonly certificate?: { readonly certificate: string; readonly privateKey: string };
  /** PEM of a further authority whose clients are trusted. */
  readonly clientCa?: string;
}

/** A running control plane. Disposing of it stops it. */
export interface ControlPlane extends AsyncDisposable {
  /** Requests in this process, as the administrator, without a socket. */
  readonly transport: Transport;
  /** A client on {@link transport}. */
  readonly client: Client;
  /** `https://127.0.0.1:34567`; undefined where it does not listen. */
  readonly url: string | undefined;
  /** A kubeconfig with an administrator's certificate; undefined where it does not listen. Keep it as secret as a key. */
  readonly kubeconfig: string | undefined;
  /** The newest resourceVersion that was given out. */
  readonly revision: number;
  /** All objects as they are now. Takes no longer for many objects than for few. */
  snapshot(): ControlPlaneSnapshot;
  /**
   * Another control plane that begins with the objects of this one; neither sees what the other writes from then on. It
   * has the clock, the chance and the workloads of this one unless `options` say otherwise, no socket, and credentials of
   * its own.
   */
  fork(options?: Omit<ControlPlaneOptions, "dataDir" | "from">): Promise<ControlPlane>;
  /** Ends watches, lets writes in flight finish and closes the storage; within two seconds. Idempotent. */
  stop(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const ISSUER = "https://kubernetes.default.svc.cluster.local";
const CLUSTER_NAMES = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.0.0.1"];

/**
 * Starts a Kubernetes-compatible API server in this process. Many can run side by side.
 *
 * Rejects with a `StorageFailure` where the data directory is locked, damaged, of another version, not ours to write, or
 * not empty where it is to begin with a snapshot, and with Node's error where the address cannot be had.
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

/** Callers that wait for the server to answer need not wait for its controllers. */
const CONTROLLERS_AFTER_MS = 100;

/** By the machine's clock, whatever clock the control plane runs on: it is about this process. */
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

/** Failures of the plane's own controllers go to its log. */
function errorLogger(log: ErrorLog): Logger {
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    // A conflict is an ordinary race, and the controller has already tried again.
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

/** Sockets need modules that an in-process control plane does not: loaded here. */
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

/** The last one started stops first. */
async function disposeAll(parts: (AsyncDisposable | Disposable)[]): Promise<void> {
  for (const part of parts.splice(0).reverse()) {
    if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]();
    else part[Symbol.dispose]();
  }
}
