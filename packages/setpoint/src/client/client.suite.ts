import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { Deployment } from "../kinds/builtin/apps/v1.js";
import { ConfigMap, Namespace, Pod, ServiceAccount } from "../kinds/builtin/v1.js";
import type { Kind } from "../kinds/kind.js";
import type { NewObject } from "../kinds/object.js";
import type { ClientOptions } from "./api-client.js";
import { type ApiError, fieldErrors, isAlreadyExists, isConflict, isNotFound, isNotServed } from "./api-error.js";
import type { Client, ObservedRequest, WatchEvent } from "./client.js";
import { discover } from "./discovery.js";
import { readJson } from "./transport/body.js";

/** What the suite needs from its caller: a client with all permissions on some server. */
export type ConnectForSuite = (options?: Pick<ClientOptions, "observer" | "onWarning">) => Promise<Client>;

/** The behaviour of the client with any Kubernetes API server: the real one, and the embedded control plane. */
export function clientSuite(name: string, connect: ConnectForSuite): void {
  describe(`the client, on ${name}`, () => {
    const namespace = `client-${Math.floor(systemRandom.next() * 1e9).toString(36)}`;
    const observed: ObservedRequest[] = [];
    const warnings: string[] = [];
    let client: Client;

    const configMap = (mapName: string, data: Record<string, string> = {}): NewObject<ConfigMap> => ({
      metadata: { name: mapName, namespace, labels: { suite: mapName } },
      data,
    });

    beforeAll(async () => {
      client = await connect({
        observer: (request) => observed.push(request),
        onWarning: (warning) => warnings.push(warning),
      });
      await client.create(Namespace, { metadata: { name: namespace } });
    });

    afterAll(async () => {
      await client?.delete(Namespace, namespace).catch(() => undefined);
      await client?.[Symbol.asyncDispose]();
    });

    it("creates, reads, replaces and deletes", async () => {
      const created = await client.create(ConfigMap, configMap("life", { a: "1" }));
      expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "life", namespace } });
      expect(await client.get(ConfigMap, "life", { namespace })).toEqual(created);
      const updated = await client.update(ConfigMap, { ...created, data: { a: "2" } });
      expect(updated.data).toEqual({ a: "2" });
      await expect(client.update(ConfigMap, { ...created, data: { a: "3" } })).rejects.toSatisfy(isConflict);
      expect(await client.delete(ConfigMap, "life", { namespace })).toBeUndefined();
      await expect(client.get(ConfigMap, "life", { namespace })).rejects.toSatisfy(isNotFound);
      expect(await client.find(ConfigMap, "life", { namespace })).toBeUndefined();
    });

    it("tells a missing object from a kind that is not served", async () => {
      const missing: Kind = { ...ConfigMap, group: "missing.example.com", apiVersion: "missing.example.com/v1" };
      const error = (await client.find(missing, "a", { namespace }).catch((reason: unknown) => reason)) as ApiError;
      expect(isNotServed(error)).toBe(true);
      expect(isNotFound(error)).toBe(false);
      await expect(client.list(missing)).rejects.toSatisfy(isNotServed);
    });

    it("refuses a second object of the same name, and generates names on request", async () => {
      await client.create(ConfigMap, configMap("twice"));
      await expect(client.create(ConfigMap, configMap("twice"))).rejects.toSatisfy(isAlreadyExists);
      const made = await client.create(ConfigMap, { metadata: { generateName: "made-", namespace } });
      expect(made.metadata.name).toMatch(/^made-[a-z0-9]+$/);
    });

    it("reports each invalid field", async () => {
      const bad = { metadata: { name: "Not_Valid", namespace, labels: { "a b": "c d" } } };
      const error = (await client.create(ConfigMap, bad).catch((reason: unknown) => reason)) as ApiError;
      expect(error).toMatchObject({ code: "API_INVALID", status: 422, reason: "Invalid" });
      expect(fieldErrors(error)[0]).toMatch(/^metadata\.name: Invalid value: "Not_Valid"/);
      expect(error.message.split("\n").length).toBe(error.causes.length + 1);
      expect(error.request).toEqual({
        method: "POST",
        path: expect.stringContaining(`/namespaces/${namespace}/configmaps`),
      });
    });

    it("patches with JSON, merge and strategic patches", async () => {
      await client.create(ConfigMap, configMap("patched", { a: "1", b: "1" }));
      const merged = await client.patch(
        ConfigMap,
        "patched",
        { type: "merge", body: { data: { a: null, c: "3" } } },
        { namespace },
      );
      expect(merged.data).toEqual({ b: "1", c: "3" });
      const operations = [
        { op: "test", path: "/data/b", value: "1" },
        { op: "replace", path: "/data/b", value: "2" },
      ] as const;
      const patched = await client.patch(ConfigMap, "patched", { type: "json", operations }, { namespace });
      expect(patched.data).toEqual({ b: "2", c: "3" });
      await expect(
        client.patch(ConfigMap, "patched", { type: "json", operations }, { namespace }),
      ).rejects.toMatchObject({ code: "API_INVALID" });
      const strategic = { type: "strategic", body: { data: { d: "4" } } } as const;
      expect((await client.patch(ConfigMap, "patched", strategic, { namespace })).data).toEqual({
        b: "2",
        c: "3",
        d: "4",
      });
    });

    it("applies as a field manager, conflicts with another, and takes over by force", async () => {
      const desired = { metadata: { name: "applied", namespace }, data: { a: "1" } };
      const applied = await client.apply(ConfigMap, desired);
      expect(applied.metadata.managedFields).toMatchObject([{ manager: "setpoint", operation: "Apply" }]);
      const again = await client.apply(ConfigMap, desired);
      expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
      const other = { ...desired, data: { a: "2" } };
      const error = (await client
        .apply(ConfigMap, other, { fieldManager: "other" })
        .catch((reason: unknown) => reason)) as ApiError;
      expect(isConflict(error)).toBe(true);
      expect(error.causes).toMatchObject([{ reason: "FieldManagerConflict", field: ".data.a" }]);
      const forced = await client.apply(ConfigMap, other, { fieldManager: "other", force: true });
      expect(forced.data).toEqual({ a: "2" });
    });

    it("deletes on preconditions, and returns the object while a finalizer holds it", async () => {
      const created = await client.create(ConfigMap, {
        ...configMap("guarded"),
        metadata: { name: "guarded", namespace, finalizers: ["example.com/wait"] },
      });
      const uid = "00000000-0000-0000-0000-000000000000";
      await expect(client.delete(ConfigMap, "guarded", { namespace, preconditions: { uid } })).rejects.toSatisfy(
        isConflict,
      );
      const held = await client.delete(ConfigMap, "guarded", {
        namespace,
        preconditions: { uid: created.metadata.uid },
        propagation: "Background",
      });
      expect(held?.metadata.deletionTimestamp).toBeTruthy();
      await client.patch(
        ConfigMap,
        "guarded",
        { type: "merge", body: { metadata: { finalizers: null } } },
        { namespace },
      );
      expect(await client.find(ConfigMap, "guarded", { namespace })).toBeUndefined();
    });

    it("deletes a collection by selector", async () => {
      for (const mapName of ["one", "two"]) {
        const { metadata, ...rest } = configMap(mapName);
        await client.create(ConfigMap, { ...rest, metadata: { ...metadata, labels: { doomed: mapName } } });
      }
      await client.deleteCollection(ConfigMap, { namespace, labelSelector: "doomed=one" });
      const { items } = await client.list(ConfigMap, { namespace, labelSelector: "doomed" });
      expect(items.map((item) => item.metadata.name)).toEqual(["two"]);
    });

    it("lists page by page from one snapshot, and every item has its kind", async () => {
      for (let index = 0; index < 25; index++) {
        await client.create(ConfigMap, {
          metadata: { name: `page-${String(index).padStart(2, "0")}`, namespace, labels: { paged: "yes" } },
        });
      }
      const names: string[] = [];
      const versions = new Set<string>();
      for await (const page of client.pages(ConfigMap, { namespace, labelSelector: "paged=yes", limit: 10 })) {
        if (names.length === 0) {
          await client.create(ConfigMap, { metadata: { name: "page-99", namespace, labels: { paged: "yes" } } });
        }
        expect(page.items.every((item) => item.kind === "ConfigMap" && item.apiVersion === "v1")).toBe(true);
        names.push(...page.items.map((item) => item.metadata.name));
        versions.add(page.resourceVersion);
      }
      expect(names).toEqual(Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, "0")}`));
      expect(versions.size).toBe(1);
    });

    it("watches from a resourceVersion on: every event, in order", async () => {
      const { resourceVersion } = await client.list(ConfigMap, { namespace });
      const stop = new AbortController();
      const steps: string[] = [];
      const watching = (async () => {
        const options = { namespace, resourceVersion, signal: stop.signal, fieldSelector: "metadata.name=watched" };
        for await (const event of client.watch(ConfigMap, options)) {
          if (event.type === "BOOKMARK") continue;
          steps.push(`${event.type} ${event.object.data?.n ?? ""}`);
          if (event.type === "DELETED") return;
        }
      })();
      const { metadata } = await client.create(ConfigMap, configMap("watched", { n: "1 ü" }));
      await client.update(ConfigMap, { ...(configMap("watched", { n: "2" }) as ConfigMap), metadata });
      await client.delete(ConfigMap, "watched", { namespace });
      await watching;
      expect(steps).toEqual(["ADDED 1 ü", "MODIFIED 2", "DELETED 2"]);
    });

    it("streams the initial list of a watch, with a bookmark at its end", async () => {
      const stop = new AbortController();
      const events: WatchEvent<ConfigMap>[] = [];
      for await (const event of client.watch(ConfigMap, {
        namespace,
        labelSelector: "paged=yes",
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        signal: stop.signal,
      })) {
        events.push(event);
        if (event.type === "BOOKMARK" && event.initialEventsEnd) break;
      }
      expect(events.filter((event) => event.type === "ADDED")).toHaveLength(26);
      expect(events.at(-1)).toMatchObject({ type: "BOOKMARK", resourceVersion: expect.stringMatching(/^\d+$/) });
    });

    it("ends a watch when the server closes it, or when it is aborted", async () => {
      const options = { namespace, resourceVersion: (await client.list(ConfigMap, { namespace })).resourceVersion };
      for await (const _ of client.watch(ConfigMap, { ...options, timeoutSeconds: 1 }));
      const stop = new AbortController();
      const reason = new Error("seen enough");
      const watching = (async () => {
        for await (const _ of client.watch(ConfigMap, { ...options, signal: stop.signal }));
      })();
      await systemClock.sleep(50);
      stop.abort(reason);
      await expect(watching).rejects.toMatchObject({ code: "ABORTED", cause: reason });
    });

    it("reads and writes subresources: status, scale, token, binding, eviction", async () => {
      const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } };
      const deployment = await client.create(Deployment, {
        metadata: { name: "web", namespace },
        spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template },
      } as NewObject<Deployment>);
      const reported = await client.patch(
        Deployment,
        "web",
        { type: "merge", body: { status: { observedGeneration: 1, replicas: 1 } } },
        { namespace, subresource: "status" },
      );
      expect(reported.status).toMatchObject({ replicas: 1 });
      expect(reported.metadata.generation).toBe(deployment.metadata.generation);

      type Scale = { readonly spec: { readonly replicas: number } };
      const scale = await client.getSubresource<Scale>(Deployment, "web", { subresource: "scale", namespace });
      expect(scale.spec.replicas).toBe(1);
      const more = { ...scale, spec: { replicas: 3 } };
      const scaled = await client.updateSubresource<Scale>(Deployment, "web", {
        subresource: "scale",
        body: more,
        namespace,
      });
      expect(scaled.spec.replicas).toBe(3);

      await client.create(ServiceAccount, { metadata: { name: "robot", namespace } });
      const request = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 600 },
      };
      type TokenRequest = { readonly status: { readonly token: string } };
      const issued = await client.createSubresource<TokenRequest>(ServiceAccount, "robot", {
        subresource: "token",
        body: request,
        namespace,
      });
      expect(issued.status.token.split(".")).toHaveLength(3);

      await client.create(Pod, { metadata: { name: "web-0", namespace }, spec: template.spec } as NewObject<Pod>);
      const target = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "web-0" },
        target: { kind: "Node", name: "n1" },
      };
      await client.createSubresource(Pod, "web-0", { subresource: "binding", body: target, namespace });
      expect((await client.get(Pod, "web-0", { namespace })).spec?.nodeName).toBe("n1");
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web-0", namespace } };
      await client.createSubresource(Pod, "web-0", { subresource: "eviction", body: eviction, namespace });
      const evicted = await client.find(Pod, "web-0", { namespace });
      expect(evicted === undefined || evicted.metadata.deletionTimestamp !== undefined).toBe(true);
    });

    it("writes nothing in a dry run", async () => {
      const tried = await client.create(ConfigMap, configMap("dry"), { dryRun: true });
      expect(tried.metadata.uid).toBeTruthy();
      expect(await client.find(ConfigMap, "dry", { namespace })).toBeUndefined();
    });

    it("refuses unknown fields in strict mode, and otherwise passes the warning on once", async () => {
      const odd = { ...configMap("odd"), surplus: 1 } as NewObject<ConfigMap>;
      await expect(client.create(ConfigMap, odd, { fieldValidation: "Strict" })).rejects.toMatchObject({
        code: "API_BAD_REQUEST",
        message: expect.stringContaining('unknown field "surplus"'),
      });
      await client.create(ConfigMap, odd, { fieldValidation: "Warn" });
      await client
        .apply(ConfigMap, { ...odd, metadata: { name: "odd", namespace } }, { fieldValidation: "Warn", force: true })
        .catch(() => undefined);
      expect(warnings.filter((warning) => warning === 'unknown field "surplus"')).toHaveLength(1);
    });

    it("an apply with unknown fields is refused, whatever its field validation", async () => {
      const odd = { metadata: { name: "odd-apply", namespace }, surplus: 1 };
      for (const options of [{}, { fieldValidation: "Ignore" }, { fieldValidation: "Strict" }] as const) {
        await expect(client.apply(ConfigMap, odd, options)).rejects.toThrow(".surplus: field not declared in schema");
      }
      expect(await client.find(ConfigMap, "odd-apply", { namespace })).toBeUndefined();
    });

    it("accepts an object of 1 MB; the server refuses one over 3 MB", async () => {
      const large = await client.create(ConfigMap, configMap("large", { text: "x".repeat(1_000_000) }));
      expect((await client.get(ConfigMap, "large", { namespace })).data).toEqual(large.data);
      await expect(
        client.create(ConfigMap, configMap("larger", { text: "x".repeat(3_200_000) })),
      ).rejects.toMatchObject({
        code: "API_TOO_LARGE",
        status: 413,
      });
    });

    it("discovers what is served, by aggregated discovery or group by group", async () => {
      const discovery = await client.discover();
      const deployments = discovery.groups
        .find((group) => group.name === "apps")
        ?.versions[0]?.resources.find((resource) => resource.plural === "deployments");
      expect(deployments).toMatchObject({
        kind: "Deployment",
        scope: "Namespaced",
        singular: "deployment",
        shortNames: ["deploy"],
      });
      expect(deployments?.verbs).toContain("watch");
      expect(deployments?.subresources.find((subresource) => subresource.name === "scale")).toMatchObject({
        kind: "Scale",
        apiVersion: "autoscaling/v1",
      });
      const legacy = await discover({
        raw: (request) => client.raw({ ...request, headers: { accept: "application/json" } }),
      });
      expect(legacy.failures).toEqual([]);
      const named = (groups: typeof legacy.groups): unknown[] =>
        groups
          .flatMap(({ name: group, versions }) =>
            versions.flatMap(({ version, resources }) =>
              resources.map(({ plural, kind, scope, subresources }) => [
                ...[group, version, plural, kind, scope],
                subresources.map((subresource) => `${subresource.name} ${subresource.kind}`).sort(),
              ]),
            ),
          )
          .sort((left, right) => (String(left) < String(right) ? -1 : 1));
      expect(named(legacy.groups)).toEqual(named(discovery.groups));
    });

    it("sends raw requests with its credentials", async () => {
      const request = { method: "GET", path: "/version" } as const;
      const response = await client.raw(request);
      expect(response.status).toBe(200);
      expect(await readJson(request, response)).toMatchObject({ major: "1" });
    });

    it("reports each request to its observer", () => {
      const creates = observed.filter((request) => request.verb === "create" && request.kind === "ConfigMap");
      expect(creates.some((request) => request.status === 201)).toBe(true);
      expect(creates.some((request) => request.status === 409)).toBe(true);
      expect(observed.some((request) => request.verb === "update" && request.subresource === "scale")).toBe(true);
      expect(observed.every((request) => request.durationMs >= 0 && request.attempt >= 1)).toBe(true);
    });
  });
}
