import { describe, expect, it } from "vitest";
import { createClient } from "../client/api-client.js";
import type { Transport } from "../client/transport/transport.js";
import { controller, type Trigger } from "../controller/controller.js";
import { watcher } from "../controller/watcher.js";
import { Website, websiteDefinition } from "../controller/world.testing.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { ClusterRole, ClusterRoleBinding } from "../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { ConfigMap, ServiceAccount } from "../kinds/builtin/v1.js";
import type { Kind } from "../kinds/kind.js";
import { Manager } from "../manager/manager.js";
import { rbacRules } from "../manager/rbac.js";
import { create, createSite, here, isWrite, namespace, setImage, shown, websites } from "./faults.testing.js";
import { TestEnvironment } from "./test-environment.js";

interface Part extends Omit<Website, "kind"> {
  readonly kind: "Part";
}

const ACCOUNT = "operator";

/** A ServiceAccount with a role of the controller's declared rules, and its client; the test creates the binding. */
async function createAccount(env: TestEnvironment) {
  const rules = rbacRules([websites()]).map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs }));
  await env.client.create(ServiceAccount, { metadata: { name: ACCOUNT, namespace } });
  await env.client.create(ClusterRole, { metadata: { name: ACCOUNT }, rules });
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
  const { status } = await env.client.createSubresource<{ status: { token: string } }>(ServiceAccount, ACCOUNT, {
    subresource: "token",
    body: review,
    ...here,
  });
  const authorization = `Bearer ${status.token}`;
  const transport: Transport = {
    request: ({ headers, ...request }) =>
      env.client.raw({ ...request, headers: { ...headers, authorization }, retry: false }),
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    client: createClient({ transport, server: "in-process", clock: env.clock }),
    binding: {
      metadata: { name: ACCOUNT },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ACCOUNT },
      subjects: [{ kind: "ServiceAccount", name: ACCOUNT, namespace }],
    },
  };
}

async function stop(env: TestEnvironment, manager: Manager): Promise<void> {
  const stopped = manager.stop();
  await env.advance("1s");
  await stopped;
}

describe("an operator under faults", () => {
  it("catches up with everything that it missed while its watches were cut for minutes", async () => {
    await using env = await create();
    await createSite(env, "a");
    await createSite(env, "gone");
    await env.idle();
    using _cut = env.operator.cut();
    await setImage(env, "a", "caddy");
    await createSite(env, "new");
    await env.client.delete(Website, "gone", here);
    await env.client.delete(ConfigMap, "a", here);
    await env.advance("5m");
    expect(await shown(env, "a")).toEqual([undefined, "nginx"]);
    _cut[Symbol.dispose]();
    await env.advance("2m");
    expect(await shown(env, "a")).toEqual(["caddy", "caddy"]);
    expect(await shown(env, "new")).toEqual(["nginx", "nginx"]);
    expect(await env.client.find(Website, "gone", here)).toBeUndefined();
  });

  it("does not undo changes that are newer than its stale cache", async () => {
    let ask: (key: string) => void = () => {};
    const onDemand: Trigger = {
      name: "on-demand",
      start: ({ enqueue }) => {
        ask = enqueue;
      },
    };
    await using env = await create({ loops: [websites([onDemand])] });
    await createSite(env, "a", "one");
    await env.idle();
    const lag = env.operator.delayWatches("5s");
    await setImage(env, "a", "two");
    await env.client.patch(ConfigMap, "a", { type: "merge", body: { data: { theirs: "yes" } } }, here);
    await env.advance("1s");
    // A run on the stale state: it wants what it last wrote, so it writes nothing.
    const written = env.operator.writes.length;
    ask(`${namespace}/a`);
    await env.advance("1s");
    expect([...env.operator.manager.timeline.runs()].at(-1)?.causes).toEqual([{ type: "trigger", name: "on-demand" }]);
    expect(env.operator.writes.slice(written)).toEqual([]);
    await env.advance("10s");
    expect(await shown(env, "a")).toEqual(["two", "two"]);
    expect((await env.client.get(ConfigMap, "a", here)).data).toEqual({ image: "two", theirs: "yes" });
    lag[Symbol.dispose]();
  });

  it("keeps conditions that others set after its stale cache", async () => {
    let ask: (key: string) => void = () => {};
    const onDemand: Trigger = {
      name: "on-demand",
      start: ({ enqueue }) => {
        ask = enqueue;
      },
    };
    let reason = "First";
    const seen: string[] = [];
    const declared = controller(Website, {
      triggers: [onDemand],
      reconcile: ({ status }, ctx) => {
        seen.push(`${ctx.causes.map(({ type }) => type)} ${status?.conditions?.map(({ type }) => type)}`);
        ctx.condition({ type: "Ready", status: "True", reason });
      },
    });
    await using env = await create({ loops: [declared] });
    await createSite(env, "a");
    await env.idle();
    const conditions = async () => (await env.client.get(Website, "a", here)).status?.conditions ?? [];
    using _lag = env.operator.delayWatches("5s");
    const [ready] = await conditions();
    const body = { status: { conditions: [ready!, { ...ready!, type: "Theirs" }] } };
    await env.client.patch(Website, "a", { type: "merge", body: body as never }, { ...here, subresource: "status" });
    reason = "Second";
    ask(`${namespace}/a`);
    await env.advance("1s");
    expect((await conditions()).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      "Ready Second",
      "Theirs First",
    ]);
    // The conditions of others cause a run, although the response to the own write contained them.
    await env.advance("10s");
    expect(seen.at(-1)).toBe("updated Ready,Theirs");
  });

  it("runs for a finalizer that somebody else added before its own, with a stale cache", async () => {
    const seen: string[] = [];
    const declared = controller(Website, {
      reconcile: (_, ctx) => void seen.push(ctx.action),
      finalize: () => {},
    });
    await using env = await create({ loops: [declared] });
    using _lag = env.operator.delayWatches("5s");
    await createSite(env, "a");
    await env.advance("3s");
    const body = { metadata: { finalizers: ["example.com/theirs"] } };
    await env.client.patch(Website, "a", { type: "merge", body }, here);
    await env.advance("20s");
    const { finalizers } = (await env.client.get(Website, "a", here)).metadata;
    expect([seen, finalizers]).toEqual([
      ["created", "updated"],
      ["example.com/theirs", "setpoint.dev/websites"],
    ]);
  });

  it("goes on when its CRD is removed and restored", async () => {
    await using env = await create();
    await createSite(env, "a");
    await env.idle();
    await env.client.delete(CustomResourceDefinition, "websites.web.example.com");
    await env.advance("2m");
    const { manager } = env.operator;
    const objects = [...manager.informers.statuses()].filter(({ kind }) => kind === "web.example.com/v1/Website");
    expect(objects.map((status) => status.objects)).toEqual([0]);
    expect(manager.trouble()).toEqual([
      expect.stringMatching(/^informer web.example.com\/v1\/Website: waiting-for-kind/),
    ]);
    expect(await env.client.find(ConfigMap, "a", here)).toBeUndefined();
    await env.client.create(CustomResourceDefinition, websiteDefinition());
    await env.advance("2m");
    expect(manager.trouble()).toEqual([]);
    await createSite(env, "b", "caddy");
    // An object of the same name with the same desired state: nothing is remembered of its predecessor.
    const { metadata } = await createSite(env, "a");
    await env.idle();
    expect(await shown(env, "b")).toEqual(["caddy", "caddy"]);
    expect(await shown(env, "a")).toEqual(["nginx", "nginx"]);
    const child = await env.client.get(ConfigMap, "a", here);
    expect(child.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid }]);
  });

  it("recreates its children when their CRD is removed and restored", async () => {
    const { spec } = websiteDefinition();
    const names = { plural: "parts", singular: "part", kind: "Part", listKind: "PartList" };
    const definition = { metadata: { name: "parts.web.example.com" }, spec: { ...spec, names } };
    const Part: Kind<Part> = { ...Website, "~object": undefined, kind: "Part", plural: "parts" };
    const declared = controller(Website, {
      owns: [Part],
      reconcile: async ({ metadata: { name }, spec: { image } }, ctx) => {
        await ctx.apply(Part, { metadata: { name }, spec: { image } });
      },
    });
    await using env = await create({ kinds: [websiteDefinition(), definition], loops: [declared] });
    await createSite(env, "a");
    await env.idle();
    expect((await env.client.get(Part, "a", here)).spec.image).toBe("nginx");
    await env.client.delete(CustomResourceDefinition, "parts.web.example.com");
    await env.advance("2m");
    expect(env.operator.manager.trouble().join()).toContain("web.example.com/v1/Part: waiting-for-kind");
    await env.client.create(CustomResourceDefinition, definition);
    await env.advance("6m");
    expect(env.operator.manager.trouble()).toEqual([]);
    expect((await env.client.get(Part, "a", here)).spec.image).toBe("nginx");
  });

  it("parks nothing for good when its permissions are revoked for half an hour and granted again", async () => {
    await using env = await TestEnvironment.create({ kinds: [websiteDefinition()] });
    const account = await createAccount(env);
    await env.client.create(ClusterRoleBinding, account.binding);
    const health = { host: "127.0.0.1", port: 0 };
    await using manager = new Manager({ client: account.client, clock: env.clock, health });
    await manager.add(websites());
    await manager.start();
    const ready = async () => (await fetch(`${manager.healthUrl}/readyz`)).text();
    await createSite(env, "a");
    await env.advance("1s");
    expect(await shown(env, "a")).toEqual(["nginx", "nginx"]);
    await env.client.delete(ClusterRoleBinding, ACCOUNT);
    await setImage(env, "a", "caddy");
    await env.advance("30m");
    expect(await shown(env, "a")).toEqual(["nginx", "nginx"]);
    expect(manager.metrics.exposition()).toContain('setpoint_parked_keys{controller="websites"} 1');
    expect(await ready()).toMatch(/\[!\]informer web.example.com\/v1\/Website: backing-off; last error: API_FORBIDDEN/);
    await env.client.create(ClusterRoleBinding, account.binding);
    await env.advance("6m");
    expect(await shown(env, "a")).toEqual(["caddy", "caddy"]);
    expect(await ready()).toBe("[+]controllers ok\nok\n");
    expect(manager.metrics.exposition()).toContain('setpoint_parked_keys{controller="websites"} 0');
    await stop(env, manager);
  });

  it("names what it may not list, and lists it once it may", async () => {
    await using env = await TestEnvironment.create({ kinds: [websiteDefinition()] });
    const account = await createAccount(env);
    await createSite(env, "a");
    await using manager = new Manager({ client: account.client, clock: env.clock });
    await manager.add(websites());
    await manager.start();
    await env.advance("2m");
    expect(manager.trouble().join()).toMatch(
      /websites.web.example.com is forbidden: User "system:serviceaccount:default:operator"/,
    );
    await env.client.create(ClusterRoleBinding, account.binding);
    await env.advance("2m");
    expect(manager.trouble()).toEqual([]);
    expect(await shown(env, "a")).toEqual(["nginx", "nginx"]);
    await stop(env, manager);
  });

  it("runs a healthy key at once among 1,000 failing ones", async () => {
    const reconciled: string[] = [];
    let onRun: ((name: string) => Promise<unknown> | undefined) | undefined;
    const declared = controller(Website, {
      retry: { initial: "1s", max: "1m", jitter: 0 },
      concurrency: 1,
      async reconcile({ metadata: { name }, spec }) {
        reconciled.push(`${name} ${spec.image}`);
        await onRun?.(name);
        if (name.startsWith("bad")) throw new Error("this one never works");
      },
    });
    await using env = await TestEnvironment.create({ kinds: [websiteDefinition()] });
    for (let at = 0; at < 1_000; at++) await createSite(env, `bad-${at}`);
    await createSite(env, "healthy", "0");
    await env.start([declared]);
    for (let change = 1; change <= 4; change++) {
      let at = 0;
      reconciled.length = 0;
      // All retries are due at the same time; the event arrives when 100 of them are done.
      onRun = (name) => {
        if (!name.startsWith("bad") || ++at !== 100) return undefined;
        return setImage(env, "healthy", String(change));
      };
      await env.advance(`${2 ** (change - 1)}s`);
      const position = reconciled.indexOf(`healthy ${change}`);
      expect(reconciled.length).toBe(1_001);
      expect(position).toBeGreaterThanOrEqual(100);
      expect(position).toBeLessThan(110);
    }
  }, 60_000);

  it("reports the error of a reconcile that fails after its signal once, and retries the run", async () => {
    const errors: unknown[] = [];
    let runs = 0;
    const declared = controller(Website, {
      timeout: "1s",
      retry: { initial: "1s", jitter: 0 },
      onError: (error) => errors.push(error),
      reconcile: (_, ctx) => {
        if (++runs > 1) return undefined;
        return new Promise((_resolve, reject) => {
          ctx.signal.addEventListener("abort", () => reject(new Error("thrown after the signal")));
        });
      },
    });
    await using env = await create({ loops: [declared] });
    await createSite(env, "a");
    await env.advance("5s");
    expect(errors.map((error) => (error as Error).message)).toEqual(["thrown after the signal"]);
    expect(runs).toBe(2);
    expect(env.operator.manager.trouble()).toEqual([]);
  });

  it("is not disturbed by an error of an abandoned reconcile, and runs the object again", async () => {
    const errors: unknown[] = [];
    let runs = 0;
    let fail: (error: Error) => void = () => {};
    const declared = controller(Website, {
      timeout: "1s",
      retry: { initial: "1s", jitter: 0 },
      onError: (error) => errors.push(error),
      reconcile: () => {
        if (++runs > 1) return undefined;
        return new Promise((_resolve, reject) => {
          fail = reject;
        });
      },
    });
    await using env = await create({ loops: [declared] });
    await createSite(env, "a");
    await env.advance("30s");
    expect([runs, errors]).toMatchObject([1, [{ code: "RECONCILE_HUNG" }]]);
    fail(new Error("long after the signal"));
    await env.advance("1s");
    expect([runs, errors.length]).toEqual([2, 1]);
  });

  it("is aborted during a reconcile and a request when its lease is lost, and writes nothing more", async () => {
    const ends: string[] = [];
    const declared = controller(Website, {
      owns: [ConfigMap],
      reconcile: async ({ metadata }, ctx) => {
        ctx.status({ phase: "Written" });
        await ctx.apply(ConfigMap, { metadata: { name: metadata.name } }).catch((error) => {
          ends.push(error.code);
          throw error;
        });
      },
    });
    const manager = { name: "app", leaderElection: { namespace } };
    await using env = await create({ loops: [declared], manager });
    using hanging = env.fault(({ method, path }) =>
      method === "PATCH" && path.includes("/configmaps/") ? "hang" : undefined,
    );
    await createSite(env, "a");
    await env.advance("10s");
    expect([env.operator.manager.isLeading, ends]).toEqual([true, []]);
    // The API server is unreachable for this process until its lease has expired.
    const cut = env.operator.cut();
    await env.advance("16s");
    expect([env.operator.manager.isLeading, ends]).toEqual([false, ["LEASE_LOST"]]);
    cut[Symbol.dispose]();
    hanging[Symbol.dispose]();
    const sent = env.operator.requests.length;
    await env.advance("5m");
    expect(env.operator.requests.slice(sent).filter(isWrite)).toEqual([]);
    expect(await shown(env, "a")).toEqual([undefined, undefined]);
  });

  it("lets another process finish its work after its lease is lost and its effect aborted", async () => {
    const ends: unknown[] = [];
    const declared = controller(Website, {
      owns: [ConfigMap],
      reconcile: async ({ metadata: { name }, spec: { image } }, ctx) => {
        await ctx.effect("record", async (signal) => {
          if (ends.length > 0) return;
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))).catch(
            (error) => {
              ends.push(error.code);
              throw error;
            },
          );
        });
        await ctx.apply(ConfigMap, { metadata: { name }, data: { image } });
        ctx.status({ phase: image });
      },
    });
    await using env = await create({ loops: [declared], manager: { name: "app", leaderElection: { namespace } } });
    const first = env.operator;
    await createSite(env, "a");
    await env.advance("5s");
    const second = await env.start();
    const cut = first.cut();
    await env.advance("40s");
    cut[Symbol.dispose]();
    await env.advance("1m");
    expect(ends).toEqual(["LEASE_LOST"]);
    expect([first.manager.isLeading, second.manager.isLeading]).toEqual([false, true]);
    expect(await shown(env, "a")).toEqual(["nginx", "nginx"]);
    expect(first.writes).toEqual([]);
  });

  it("aborts the step and request of a watcher that lost its lease, and sends nothing more", async () => {
    const errors: unknown[] = [];
    const declared = watcher(Website, { finalizer: "example.com/audit", onError: (error) => errors.push(error) });
    await using env = await create({ loops: [declared], manager: { name: "app", leaderElection: { namespace } } });
    const hanging = env.fault(({ method, path }) =>
      method === "PATCH" && path.includes("/websites/") ? "hang" : undefined,
    );
    await createSite(env, "a");
    await env.advance("5s");
    const cut = env.operator.cut();
    await env.advance("16s");
    expect(env.operator.manager.isLeading).toBe(false);
    cut[Symbol.dispose]();
    hanging[Symbol.dispose]();
    const sent = env.operator.requests.length;
    await createSite(env, "b");
    await env.advance("5m");
    expect(env.operator.requests.slice(sent).filter(isWrite)).toEqual([]);
    const { items } = await env.client.list(Website, here);
    expect(items.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
    expect(errors).toEqual([]);
  });
});
