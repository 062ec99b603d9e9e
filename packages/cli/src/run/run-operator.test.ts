import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Project, projectCrd, sampleProjects } from "@setpoint/rancher-projects";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Namespace, ServiceAccount } from "setpoint/kinds/v1";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { freePort } from "../../../../tools/ports/free-port.mjs";
import { CommandLine, runMain } from "../testing/command-line.js";

const NOWHERE = ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"];

it("names each missing permission of its account, and starts nevertheless", async () => {
  await using cli = await CommandLine.create();
  const { client } = cli.plane;
  await client.create(CustomResourceDefinition, projectCrd);
  await client.create(ServiceAccount, { metadata: { name: "weak", namespace: "default" } });
  const { status } = await client.createSubresource<{ status: { token: string } }>(ServiceAccount, "weak", {
    subresource: "token",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    namespace: "default",
  });
  const admin = parse(readFileSync(join(cli.folder, "kubeconfig"), "utf8"));
  const users = [{ name: admin.users[0].name, user: { token: status.token } }];
  const weak = cli.file("weak", stringify({ ...admin, users }));
  const stop = new AbortController();
  const errors: string[] = [];
  const { code } = await cli.run(["run", "rancher-projects", "--leader-elect", "--kubeconfig", weak, ...NOWHERE], {
    signal: stop.signal,
    stderr: (line) => {
      errors.push(line);
      if (line.startsWith("Grant")) stop.abort();
    },
  });
  expect(code).toBe(0);
  const may = (verbs: string, resource: string): string => `setpoint run: this account may not ${verbs} ${resource}`;
  expect(errors).toContain(may("get, list, watch, patch", "namespaces"));
  expect(errors).toContain(may("create, patch", "events in the namespace default"));
  expect(errors).toContain(
    may(
      "create",
      "leases.coordination.k8s.io, nor get, update leases.coordination.k8s.io rancher-projects in the namespace default",
    ),
  );
  expect(errors.filter((line) => line.includes("projects.management.cattle.io"))).toHaveLength(1);
  expect(errors.at(-1)).toBe("Grant what `setpoint rbac rancher-projects` prints.");
});

it("plans without writing anything", async () => {
  await using cli = await CommandLine.create();
  const { client } = cli.plane;
  await client.create(CustomResourceDefinition, projectCrd);
  await client.create(Namespace, { metadata: { name: "local" } });
  await client.create(Project, sampleProjects[0] as never);
  await client.create(Namespace, { metadata: { name: "orders", labels: { appOwner: "DevOps" } } });
  const { code, out } = await cli.run(["run", "rancher-projects", "--plan", "-o", "json", ...NOWHERE]);
  expect(code).toBe(0);
  expect(out).toMatch(/^v1\/Namespace orders\n/);
  expect((await client.get(Namespace, "orders")).metadata.annotations ?? {}).toEqual({});
  await client.delete(Namespace, "orders");
  await expect
    .poll(() => cli.run(["run", "rancher-projects", "--plan", ...NOWHERE]))
    .toMatchObject({ code: 0, out: "", err: "setpoint run: nothing to do" });
});

it("serves metrics according to its flags", async () => {
  await using cli = await CommandLine.create();
  await cli.plane.client.create(CustomResourceDefinition, projectCrd);
  const address = `127.0.0.1:${await freePort()}`;
  const stop = new AbortController();
  const flags = ["--metrics-bind-address", address, "--metrics-access", "rbac", "--metrics-secure=false"];
  const running = cli.run(["run", "rancher-projects", ...NOWHERE, ...flags], { signal: stop.signal });
  await expect.poll(async () => (await fetch(`http://${address}/metrics`)).status).toBe(401);
  stop.abort();
  expect(await running).toMatchObject({ code: 0 });
  const nowhere = await cli.run(["run", "rancher-projects", ...NOWHERE, "--graceful-shutdown-timeout", "soon"]);
  expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining("--graceful-shutdown-timeout") });
});

it("counts the requests of the operator", async () => {
  await using cli = await CommandLine.create();
  await cli.plane.client.create(CustomResourceDefinition, projectCrd);
  const address = `127.0.0.1:${await freePort()}`;
  const stop = new AbortController();
  const running = cli.run(["run", "rancher-projects", ...NOWHERE, "--metrics-bind-address", address], {
    signal: stop.signal,
  });
  const metrics = async (): Promise<string> => (await fetch(`http://${address}/metrics`)).text();
  await expect.poll(metrics).toMatch(/kubernetes_client_requests_total\{.*kind="Namespace"/);
  expect(await metrics()).toMatch(/rest_client_requests_total\{code="200",method="GET",host="127\.0\.0\.1:\d+"\} \d/);
  stop.abort();
  expect(await running).toMatchObject({ code: 0 });
});

it("refuses unknown operators and values", async () => {
  expect(await runMain(["run", "nobody"])).toMatchObject({ code: 2, err: expect.stringContaining("rancher-projects") });
  const moved = await runMain(["run", "rancher-projects", "--move", "sometimes"]);
  expect(moved).toMatchObject({ code: 2, err: expect.stringContaining("always, own or never") });
  expect(await runMain(["run", "rancher-projects"], { env: {} })).toMatchObject({
    code: 1,
    err: expect.stringContaining("CLUSTER_NOT_CHOSEN"),
  });
});
