import type { KeyPair } from "../../app/certificates/certificate.js";
import type { HealthCheck } from "../../app/health-check.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import type { Timeline } from "../../controller/timeline/timeline.js";
import type { Logger } from "../../loop/logger.js";
import type { LoopStatus } from "../loop-status.js";
import type { MetricRegistry } from "../metrics/metric-registry.js";
import { collectProcess } from "../metrics/process-metrics.js";
import type { NarrowedRules } from "../seen-access.js";
import { loopbackOnly, reviewedAccess } from "./access-guard.js";
import { type EndpointAnswer, EndpointServer } from "./endpoint-server.js";
import { HealthChecks } from "./health-answer.js";
import { timelineEndpoint } from "./timeline-endpoint.js";

export interface ListenAddress {
  /** Empty for all addresses of both families. */
  readonly host: string;
  readonly port: number;
}

/** The HTTP endpoints of a manager, and who may use them. */
export interface EndpointOptions {
  /** `/livez`, `/readyz` and `/healthz`. Defaults to not served. */
  readonly health?: ListenAddress;
  /** `/metrics`, `/timeline` and `/rbac`. Defaults to not served. */
  readonly metrics?: ListenAddress;
  /**
   * Who may read metrics and timeline: callers on `loopback`, or callers that the cluster's RBAC allows. Defaults to
   * `loopback`; if `run` connects as a pod, to `rbac`.
   */
  readonly metricsAccess?: "loopback" | "rbac";
  /** HTTPS instead of plain HTTP for metrics and timeline. Defaults to true with `rbac`, because callers send tokens. */
  readonly metricsSecure?: boolean;
  /** The folder of that certificate, with `tls.crt` and `tls.key`, read each minute. Defaults to a self-signed certificate. */
  readonly metricsCertificates?: string;
  /**
   * The accepted audiences of callers' tokens, with `rbac`. A token for such an audience alone is useless elsewhere.
   * Defaults to the API server's own audiences.
   */
  readonly metricsAudiences?: readonly string[];
  /** Serves `/debug/profile` and `/debug/heap` with the metrics, for the same callers. Off by default. */
  readonly profiling?: boolean;
}

export interface EndpointSources {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly metrics: MetricRegistry;
  readonly timeline: Timeline;
  readonly loops: () => readonly LoopStatus[];
  readonly readiness: () => readonly HealthCheck[];
  /** Shown in addition to the checks. */
  readonly notes: () => readonly string[];
  /** One line for each informer. */
  readonly informers: () => readonly string[];
  /** The declared permissions that were used so far; undefined if they are not counted. */
  readonly access: () => NarrowedRules | undefined;
}

/** The servers of a manager: health for everybody and without data; everything else guarded. */
export class Endpoints implements AsyncDisposable {
  readonly #servers: EndpointServer[] = [];
  #healthUrl: string | undefined;
  #metricsUrl: string | undefined;
  #certificate: Disposable | undefined;

  get healthUrl(): string | undefined {
    return this.#healthUrl;
  }

  get metricsUrl(): string | undefined {
    return this.#metricsUrl;
  }

  /** Rejects with `ADDRESS_UNAVAILABLE` or `METRICS_CERTIFICATE_INVALID`. */
  async serve(options: EndpointOptions, sources: EndpointSources): Promise<void> {
    const { health, metrics } = options;
    if (health) {
      const server = this.#server(sources.clock);
      const alive: HealthCheck = { name: "ping", check: () => undefined };
      const checks = new HealthChecks(sources);
      server.route("/livez", () => checks.answer([alive]));
      server.route("/healthz", () => checks.answer([alive]));
      server.route("/readyz", ({ query }) => {
        const informers = query.has("verbose") ? sources.informers().map((line) => `[i]${line}`) : [];
        return checks.answer(sources.readiness(), [...sources.notes().map((note) => `[!]${note}`), ...informers]);
      });
      this.#healthUrl = await server.listen(health.host, health.port, "health");
    }
    if (metrics) {
      const server = await this.#metricsServer(options, sources);
      await this.#guarded(server, options, sources);
      this.#metricsUrl = await server.listen(metrics.host, metrics.port, "metrics");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#certificate?.[Symbol.dispose]();
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()));
  }

  #server(clock: Clock, certificate?: KeyPair): EndpointServer {
    const server = new EndpointServer(clock, certificate);
    this.#servers.push(server);
    return server;
  }

  async #metricsServer(options: EndpointOptions, { clock, random, log }: EndpointSources): Promise<EndpointServer> {
    const { metricsAccess, metricsSecure = metricsAccess === "rbac", metricsCertificates } = options;
    if (!metricsSecure) return this.#server(clock);
    const { endpointCertificate } = await import("./endpoint-certificate.js");
    const certificate = await endpointCertificate(metricsCertificates, {
      clock,
      random,
      onRenewed: () => server.show(certificate.current),
      onError: (error) => log.error("could not renew the metrics certificate", { error }),
    });
    this.#certificate = certificate;
    const server = this.#server(clock, certificate.current);
    return server;
  }

  async #guarded(server: EndpointServer, options: EndpointOptions, sources: EndpointSources): Promise<void> {
    const { client, clock, metrics, timeline } = sources;
    const audiences = options.metricsAudiences ?? [];
    const guard = options.metricsAccess === "rbac" ? reviewedAccess(client, { clock, audiences }) : loopbackOnly;
    const type = "text/plain; version=0.0.4; charset=utf-8";
    collectProcess(metrics);
    server.route("/metrics", () => ({ status: 200, type, body: metrics.exposition() }), guard);
    server.route("/timeline", timelineEndpoint(timeline, sources.loops), guard);
    server.route("/rbac", () => accessAnswer(sources.access()), guard);
    if (!options.profiling) return;
    const { profilingEndpoints } = await import("./profiling.js");
    const { profile, heap } = profilingEndpoints(clock);
    server.route("/debug/profile", profile, guard);
    server.route("/debug/heap", heap, guard);
  }
}

function accessAnswer(access: NarrowedRules | undefined): EndpointAnswer {
  if (!access) return { status: 404, body: "access is not recorded: pass seenAccess to the manager\n" };
  return { status: 200, type: "application/json", body: JSON.stringify(access) };
}
