import type { JsonObject } from "setpoint";
import { systemClock } from "setpoint/clock";
import { untypedKind } from "setpoint/kinds";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Event, Namespace } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CommandLine } from "../testing/command-line.js";

let cli: CommandLine;
beforeAll(async () => {
  cli = await CommandLine.create();
});
afterAll(() => cli[Symbol.asyncDispose]());

const manifest = (name: string, labels: JsonObject = {}): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });

describe("setpoint apply", () => {
  it("prints created, unchanged and configured", async () => {
    const input = manifest("one");
    expect(await cli.run(["apply", "-f", "-"], { input })).toEqual({ code: 0, out: "namespace/one created", err: "" });
    expect((await cli.run(["apply", "-f", "-"], { input })).out).toBe("namespace/one unchanged");
    const changed = manifest("one", { team: "a" });
    expect((await cli.run(["apply", "-f", "-"], { input: changed })).out).toBe("namespace/one configured");
    const { managedFields } = (await cli.plane.client.get(Namespace, "one")).metadata;
    expect(managedFields?.map(({ manager }) => manager)).toContain("setpoint-cli");
  });

  it("applies all documents, lists and folders in order, into the namespace of -n", async () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }],
    };
    const file = cli.file(
      "several.yaml",
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: several}\n---\n---\n${JSON.stringify(list)}\n`,
    );
    const { out } = await cli.run(["apply", "-f", file, "-n", "several"]);
    expect(out).toBe("namespace/several created\nconfigmap/c created");
    expect(await cli.plane.client.find(ConfigMap, "c", { namespace: "several" })).toBeDefined();
  });

  it("applies objects of a kind whose CRD is in the same file", async () => {
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "gadgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "gadgets", kind: "Gadget" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    };
    const gadget = { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g" } };
    const input = `${JSON.stringify(definition)}\n---\n${JSON.stringify(gadget)}`;
    const { code, out } = await cli.run(["apply", "-f", "-", "--wait"], { input });
    expect(code).toBe(0);
    expect(out).toContain("gadget.example.com/g created");
    expect(out).toContain("customresourcedefinition.apiextensions.k8s.io/gadgets.example.com ready");
  });

  it("waits, line by line, and fails with the reason at the timeout", async () => {
    const Gadget = untypedKind("example.com/v1/Gadget");
    const input = JSON.stringify({ apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "slow" } });
    await cli.run(["apply", "-f", "-"], { input });
    const setReady = (status: string): Promise<unknown> =>
      cli.plane.client.patch(
        Gadget,
        "slow",
        {
          type: "merge",
          body: { status: { conditions: [{ type: "Ready", status, reason: "Polishing", message: "soon" }] } },
        },
        { namespace: "default", subresource: "status" },
      );
    await setReady("False");
    const late = await cli.run(["apply", "-f", "-", "--wait", "--timeout", "50ms"], { input });
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining("gadget.example.com/slow: Polishing: soon") });
    const lines: string[] = [];
    const { code } = await cli.run(["apply", "-f", "-", "--wait"], {
      input,
      stdout: (line) => {
        lines.push(line);
        if (line.includes("Polishing")) void setReady("True");
      },
    });
    expect(code).toBe(0);
    expect(lines.slice(1)).toEqual(["gadget.example.com/slow Polishing: soon", "gadget.example.com/slow ready"]);
  });

  it("redraws its progress on a terminal only", async () => {
    const written: string[] = [];
    const terminal = { write: (text: string) => void written.push(text), columns: () => 80 };
    await cli.run(["apply", "-f", "-", "--wait"], { input: manifest("shown"), terminal });
    expect(written.join("")).toContain("\x1b[32m✓\x1b[0m namespace/shown ready");
    written.length = 0;
    const env = { KUBECONFIG: `${cli.folder}/kubeconfig`, NO_COLOR: "1" };
    await cli.run(["apply", "-f", "-", "--wait"], { input: manifest("shown"), terminal, env });
    expect(written.join("")).toBe("\x1b[2K✓ namespace/shown ready\n");
  });

  it.each([
    ["a: [1", /bad\.yaml: .*at line 1/s],
    [
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\nkind: Namespace\n",
      /bad\.yaml, document 2: apiVersion is missing/,
    ],
    ["- 1\n", /bad\.yaml: expected an object .* found a list/],
    ["apiVersion: v1\nkind: Namespace\nmetadata: {}\n", /metadata\.name is missing \(Namespace\)/],
    ["apiVersion: v1\nkind: Namespace\nkind: Namespace\n", /Map keys must be unique/],
    ["# nothing\n", /no objects found/],
  ])("names file and document of an invalid object: %j", async (text, expected) => {
    const { code, err } = await cli.run(["apply", "-f", cli.file("bad.yaml", text)]);
    expect(code).toBe(2);
    expect(err).toMatch(expected);
  });

  it("names the file of an object that the server refuses", async () => {
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {answer: yes}\n";
    expect(await cli.run(["apply", "-f", cli.file("refused.yaml", text)])).toMatchObject({
      code: 1,
      err: expect.stringContaining("refused.yaml: "),
    });
    const unknown = await cli.run(["apply", "-f", "-"], {
      input: `{apiVersion: no.example/v1, kind: Nothing, metadata: {name: a}}`,
    });
    expect(unknown.err).toContain("standard input: the server has no no.example/v1 Nothing");
    const elsewhere = await cli.run(["apply", "-n", "one", "-f", "-"], {
      input: `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: two}}`,
    });
    expect(elsewhere).toMatchObject({ code: 2, err: expect.stringContaining("has the namespace two") });
    expect((await cli.run(["apply", "-f", "/no/such/file"])).err).toContain("/no/such/file: no such file");
  });

  it("names the manager of a conflicting field, and takes it over with force", async () => {
    const map = (value: string) => ({
      apiVersion: "v1" as const,
      kind: "ConfigMap" as const,
      metadata: { name: "fought", namespace: "default" },
      data: { value },
    });
    await cli.plane.client.apply(ConfigMap, map("theirs"), { fieldManager: "them" });
    const input = JSON.stringify(map("ours"));
    const refused = await cli.run(["apply", "-f", "-"], { input });
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/them.*--force-conflicts/s) });
    expect((await cli.run(["apply", "-f", "-", "--force-conflicts"], { input })).out).toBe(
      "configmap/fought configured",
    );
  });
});

describe("setpoint get, describe, events, watch, delete", () => {
  it("shows tables, one object, and lists for scripts", async () => {
    await cli.run(["apply", "-f", "-"], { input: manifest("seen", { team: "a" }) });
    expect((await cli.run(["get", "ns", "seen"])).out).toMatch(/^NAME +STATUS +AGE\nseen +Active +\d+s$/);
    expect((await cli.run(["get", "namespaces", "-l", "team=a", "-o", "json"])).out).toContain('"kind": "List"');
    expect(parse((await cli.run(["get", "namespace/seen", "-o", "yaml"])).out)).toMatchObject({
      kind: "Namespace",
      metadata: { name: "seen", labels: { team: "a" } },
    });
    expect((await cli.run(["get", "configmaps", "-A"])).out).toMatch(/^NAMESPACE +NAME +DATA +AGE/);
    expect(await cli.run(["get", "pods"])).toEqual({ code: 0, out: "", err: "no pods in the namespace default" });
  });

  it("fails with 1 for missing objects and with 2 for invalid arguments", async () => {
    expect(await cli.run(["get", "namespace", "nobody"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("not found"),
    });
    expect(await cli.run(["get", "namespacex"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("it has namespaces"),
    });
    expect(await cli.run(["get"])).toMatchObject({ code: 2 });
    expect(await cli.run(["get", "ns", "-o", "wide"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("json or yaml"),
    });
    const nowhere = await cli.run(["get", "ns"], { env: {} });
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining("CLUSTER_NOT_CHOSEN") });
  });

  it("describes an object with its conditions and events, and no value of a Secret", async () => {
    const { client } = cli.plane;
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } };
    const metadata = { name: "web", namespace: "default" };
    await client.create(Deployment, { metadata, spec: { selector: { matchLabels: { app: "web" } }, template } });
    const conditions = [{ type: "Available", status: "False", reason: "Slow", message: "not yet" }];
    await client.patch(
      Deployment,
      "web",
      { type: "merge", body: { status: { conditions } } },
      { namespace: "default", subresource: "status" },
    );
    await client.create(Event, {
      metadata: { name: "web.1", namespace: "default" },
      involvedObject: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "default" },
      reason: "Tried",
      message: "tried it",
      type: "Normal",
      count: 3,
      lastTimestamp: "2020-01-01T00:00:00Z",
    });
    const { out } = await cli.run(["describe", "deployment", "web"]);
    expect(out).toMatch(/Name: +web\nNamespace: +default\nKind: +apps\/v1 Deployment/);
    expect(out).toMatch(/Spec:\n(.|\n)*image: web/);
    expect(out).toMatch(/Available +False +\S+ +Slow +not yet/);
    expect(out).toMatch(/\d+d \(x3\) +Normal +Tried +tried it/);
    expect((await cli.run(["events", "deployment", "web"])).out).toContain("tried it");
    expect((await cli.run(["events", "-A", "-o", "json"])).out).toContain('"tried it"');
    await cli.run(["apply", "-f", "-"], {
      input: JSON.stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        stringData: { password: "hunter2" },
      }),
    });
    const secret = (await cli.run(["describe", "secret", "s"])).out;
    expect(secret).toContain("password: 7 bytes");
    expect(secret).not.toContain(Buffer.from("hunter2").toString("base64"));
  });

  it("follows changes until it is interrupted", async () => {
    const interrupt = new AbortController();
    const lines: string[] = [];
    const watching = cli.run(["watch", "configmaps", "-n", "default", "-l", "watched=yes"], {
      signal: interrupt.signal,
      stdout: (line) => void lines.push(line),
    });
    const until = async (text: string): Promise<void> => {
      while (!lines.some((line) => line.includes(text))) await systemClock.sleep(5);
    };
    await until("EVENT");
    const metadata = { name: "followed", namespace: "default", labels: { watched: "yes" } };
    await cli.plane.client.create(ConfigMap, { metadata });
    await until("ADDED");
    await cli.plane.client.delete(ConfigMap, "followed", { namespace: "default" });
    await until("DELETED");
    interrupt.abort();
    expect((await watching).code).toBe(0);
    expect(lines[1]).toMatch(/^ADDED +followed +0 +\d+s$/);
  });

  it("deletes by name and by file, and reports missing objects", async () => {
    await cli.run(["apply", "-f", "-"], { input: manifest("gone") });
    expect(await cli.run(["delete", "ns", "gone", "--wait"])).toEqual({
      code: 0,
      out: "namespace/gone deleted",
      err: "",
    });
    expect(await cli.run(["delete", "ns", "gone"])).toMatchObject({ code: 1, err: "namespace/gone not found" });
    expect((await cli.run(["delete", "ns", "gone", "--ignore-not-found"])).code).toBe(0);
    const held = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "held", finalizers: ["example.com/hold"] } };
    const file = cli.file("held.json", JSON.stringify(held));
    await cli.run(["apply", "-f", file]);
    expect(await cli.run(["delete", "-f", file, "--wait", "--timeout", "50ms"])).toMatchObject({
      code: 1,
      out: "configmap/held deleted",
      err: expect.stringContaining("configmap/held: held by example.com/hold"),
    });
  });
});
