import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Client } from "../../client/client.js";
import { systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { Lease } from "../../kinds/builtin/coordination.k8s.io/v1.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { silentLogger } from "../../loop/logger.js";
import { BuiltProcess } from "../built-process.testing.js";
import { LeaderElector } from "./leader-elector.js";
import { LeaseThread } from "./lease-thread.js";

interface ListeningPlane extends AsyncDisposable {
  readonly client: Client;
  readonly kubeconfig: string;
}
const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
  controlPlane: (options: { listen: object }) => Promise<ListeningPlane>;
};

const SECONDS_120 = 120_000;
const TIMES = { lease: 8_000, renew: 7_000, retry: 300 };
const namespace = "default";

/** Blocks the event loop for longer than the lease, then writes. */
const operatorWith = (times: typeof TIMES): string => `
import { controller, run } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
const works = controller(ConfigMap, {
  namespaces: ["default"],
  async reconcile({ metadata, data }, ctx) {
    if (metadata.name !== "work" || data?.done) return;
    console.log("begins");
    for (const until = Date.now() + 10_000; Date.now() < until; );
    await ctx.patch(ConfigMap, "work", { type: "merge", body: { data: { done: "yes" } } });
  },
});
await run(works, { leaderElection: ${JSON.stringify({ namespace, name: "busy", ...times })} });
`;
const OPERATOR = operatorWith(TIMES);

/** Waits for the response to a write. */
const IN_FLIGHT = `
import { controller, run } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
const works = controller(ConfigMap, {
  namespaces: ["default"],
  async reconcile({ metadata, data }, ctx) {
    if (metadata.name !== "work" || data?.done) return;
    console.log("begins");
    await new Promise((resolve) => setTimeout(resolve, 500));
    try {
      await ctx.patch(ConfigMap, "work", { type: "merge", body: { data: { done: "yes" } } });
    } catch (error) {
      console.log("ended by " + (error.cause?.code ?? error.code));
      throw error;
    }
  },
});
await run(works, { leaderElection: ${JSON.stringify({ namespace, name: "busy", ...TIMES })} });
`;

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await systemClock.sleep(50);
}

describe("an election in a thread of its own", () => {
  it("may have a listener per run without a MaxListeners warning", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    const elector = { namespace, name: "many", identity: "one", ...TIMES };
    const options = { connect: {}, elector, clock: systemClock, log: silentLogger, worker: new URL(import.meta.url) };
    const { lost } = new LeaseThread(options);
    for (let run = 0; run < 20; run++) lost.addEventListener("abort", () => {});
    await systemClock.sleep(0);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it(
    "keeps the lease while a reconciler blocks the event loop for longer than it lasts, and hands it over on a stop",
    async () => {
      await using plane = await controlPlane({ listen: {} });
      const { client } = plane;
      await using operator = new BuiltProcess(OPERATOR, plane.kubeconfig);
      await client.create(ConfigMap, { metadata: { namespace, name: "work" } });
      await until(async () => {
        operator.assertRunning();
        return (await client.get(ConfigMap, "work", { namespace })).data?.done === "yes";
      });
      const { spec } = await client.get(Lease, "busy", { namespace });
      expect(spec).toMatchObject({ leaseTransitions: 0, holderIdentity: expect.stringMatching(/.+/) });
      await until(() => operator.output.includes("default/work blocked the event loop"));
      operator.process.kill("SIGTERM");
      expect([await operator.ended, operator.output]).toEqual([0, expect.any(String)]);
      expect((await client.get(Lease, "busy", { namespace })).spec?.holderIdentity).toBe("");
    },
    SECONDS_120,
  );

  it(
    "writes nothing once its lease was taken over early, although its event loop does not know yet",
    async () => {
      await using plane = await controlPlane({ listen: {} });
      const { client } = plane;
      const times = { lease: 60_000, renew: 40_000, retry: 300 };
      await using operator = new BuiltProcess(operatorWith(times), plane.kubeconfig);
      await client.create(ConfigMap, { metadata: { namespace, name: "work" } });
      await until(() => operator.output.includes("begins"));
      // While it blocks: no message reaches it before it writes.
      await client.delete(Lease, "busy", { namespace });
      const common = { client, clock: systemClock, random: systemRandom, ...times };
      await using other = new LeaderElector({ ...common, namespace, name: "busy", identity: "other" });
      await other.acquire(new AbortController().signal);
      expect(await operator.ended).toBe(1);
      expect(operator.output).toContain("LEASE_LOST");
      expect((await client.get(ConfigMap, "work", { namespace })).data).toBeUndefined();
      expect((await client.get(Lease, "busy", { namespace })).spec?.holderIdentity).toBe("other");
    },
    SECONDS_120,
  );

  it(
    "writes nothing after it was suspended past its lease, although its event loop does not know yet",
    async () => {
      await using plane = await controlPlane({ listen: {} });
      const { client } = plane;
      await using operator = new BuiltProcess(OPERATOR, plane.kubeconfig);
      await client.create(ConfigMap, { metadata: { namespace, name: "work" } });
      await until(() => operator.output.includes("begins"));
      // While it blocks: when it continues, it writes before any timer of its loop has fired.
      operator.process.kill("SIGSTOP");
      const common = { client, clock: systemClock, random: systemRandom, ...TIMES };
      await using other = new LeaderElector({ ...common, namespace, name: "busy", identity: "other" });
      await other.acquire(new AbortController().signal);
      operator.process.kill("SIGCONT");
      expect(await operator.ended).toBe(1);
      expect(operator.output).toContain("LEASE_LOST");
      expect((await client.get(ConfigMap, "work", { namespace })).data).toBeUndefined();
      expect((await client.get(Lease, "busy", { namespace })).spec?.holderIdentity).toBe("other");
    },
    SECONDS_120,
  );

  it(
    "aborts a request in flight after it was suspended past its lease",
    async () => {
      await using plane = await controlPlane({ listen: {} });
      const { client } = plane;
      await using way = await SilentWay.to(plane.kubeconfig);
      await using operator = new BuiltProcess(IN_FLIGHT, way.kubeconfig);
      await client.create(ConfigMap, { metadata: { namespace, name: "work" } });
      await until(() => operator.output.includes("begins"));
      way.fallSilent();
      await until(async () => (await client.get(ConfigMap, "work", { namespace })).data?.done === "yes");
      operator.process.kill("SIGSTOP");
      const common = { client, clock: systemClock, random: systemRandom, ...TIMES };
      await using other = new LeaderElector({ ...common, namespace, name: "busy", identity: "other" });
      await other.acquire(new AbortController().signal);
      operator.process.kill("SIGCONT");
      expect(await operator.ended).toBe(1);
      expect(operator.output).toContain("ended by LEASE_LOST");
    },
    SECONDS_120,
  );
});

/** A proxy to a control plane that can stop forwarding responses. */
class SilentWay implements AsyncDisposable {
  readonly #target: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSilent = false;

  private constructor(kubeconfig: string) {
    this.#target = kubeconfig;
    const { hostname, port } = this.#url;
    this.#server = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far]) this.#sockets.add(socket.on("error", () => {}));
      near.pipe(far);
      far.on("data", (chunk) => void (this.#isSilent || near.write(chunk)));
    }).listen(0, "127.0.0.1");
  }

  static async to(kubeconfig: string): Promise<SilentWay> {
    const way = new SilentWay(kubeconfig);
    if (!way.#server.listening) await new Promise((resolve) => way.#server.once("listening", resolve));
    return way;
  }

  get #url(): URL {
    return new URL(/https:[^\s"']+/.exec(this.#target)![0]);
  }

  /** A kubeconfig that uses this proxy. */
  get kubeconfig(): string {
    const { hostname, port } = this.#url;
    const own = (this.#server.address() as AddressInfo).port;
    return this.#target.replaceAll(`${hostname}:${port}`, `${hostname}:${own}`);
  }

  fallSilent(): void {
    this.#isSilent = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
