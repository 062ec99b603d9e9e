import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { controlPlane } from "../control-plane.js";
import { ControlPlaneSnapshot } from "../snapshot.js";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const folder = mkdtempSync(join(tmpdir(), "setpoint-poisoned-"));
afterAll(() => rmSync(folder, { recursive: true }));

function part(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

const message = (kind: string, raw: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from("k8s\0"), part(1, Buffer.concat([part(1, "v1"), part(2, kind)])), part(2, raw)]);

/** Over the network to a whole control plane, with its admission and controllers. */
async function send(
  plane: Awaited<ReturnType<typeof controlPlane>>,
  method: "GET" | "POST",
  path: string,
  {
    type = "application/json",
    accept = "application/json",
    body = "",
  }: { type?: string; accept?: string; body?: string | Uint8Array },
): Promise<{ status: number; text: string }> {
  const headers = { accept, ...(body.length > 0 && { "content-type": type }) };
  const response = await plane.transport.request({
    method,
    path,
    headers,
    ...(body.length > 0 && { body: Buffer.from(body as string) }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, text: Buffer.concat(chunks).toString() };
}

describe("a protobuf body without its lists", () => {
  it.each([
    ["Pod", "pods", Buffer.concat([part(1, part(1, "x")), part(2, "")])],
    ["Pod", "pods", part(1, part(1, "x"))],
    [
      "ReplicationController",
      "replicationcontrollers",
      Buffer.concat([part(1, part(1, "x")), part(2, part(3, part(2, "")))]),
    ],
    ["Service", "services", part(1, part(1, "x"))],
    ["PersistentVolumeClaim", "persistentvolumeclaims", part(1, part(1, "x"))],
    ["LimitRange", "limitranges", part(1, part(1, "x"))],
    ["Endpoints", "endpoints", Buffer.concat([part(1, part(1, "x")), part(2, "")])],
  ])("of a %s is refused or created, and never a server error [R17]", async (kind, plural, raw) => {
    await using plane = await controlPlane();
    const path = `/api/v1/namespaces/default/${plural}`;
    const { status, text } = await send(plane, "POST", path, { type: PROTOBUF, body: message(kind, raw) });
    expect([201, 400, 422], text).toContain(status);
    if (kind === "Pod") expect(text).toContain("spec.containers: Required value");
  });
});

it("a deeply nested object does not make lists in YAML fail [R17]", async () => {
  await using plane = await controlPlane();
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  const crd = {
    metadata: { name: "things.example.com" },
    spec: { group: "example.com", scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
  };
  await send(plane, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: JSON.stringify(crd) });
  const things = "/apis/example.com/v1/namespaces/default/things";
  const deep = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"deep"},"spec":${'{"a":'.repeat(990)}1${"}".repeat(990)}}`;
  await expect.poll(async () => (await send(plane, "POST", things, { body: deep })).status).toBe(201);
  const list = await send(plane, "GET", things, { accept: "application/yaml" });
  expect(list.status).toBe(200);
  expect(JSON.parse(list.text).items).toHaveLength(1);
  const others = await send(plane, "GET", "/api/v1/namespaces", { accept: "application/yaml" });
  expect(others.text).toMatch(/^apiVersion: v1\nitems:\n- metadata:/);
});

describe("a snapshot", () => {
  const poisons: readonly [string, (object: Record<string, unknown>) => unknown][] = [
    ["an object without metadata", ({ metadata: _metadata, ...rest }) => rest],
    ["a text for an object", () => "x"],
    ["invalid labels", (object) => ({ ...object, metadata: { ...(object.metadata as object), labels: { a: 1 } } })],
    ["invalid owners", (object) => ({ ...object, metadata: { ...(object.metadata as object), ownerReferences: [1] } })],
    ["another name than its key", (object) => ({ ...object, metadata: { ...(object.metadata as object), name: "y" } })],
    ["a field of another type", (object) => ({ ...object, data: [1] })],
    ["too deep nesting", (object) => ({ ...object, x: JSON.parse(`${'{"a":'.repeat(1200)}1${"}".repeat(1200)}`) })],
  ];

  it.each(poisons)(
    "with %s is refused with the name of the object, and starts no server [R17]",
    async (_title, poison) => {
      const file = join(folder, "a.snapshot");
      {
        await using plane = await controlPlane({ controllers: false });
        const body = JSON.stringify({ metadata: { name: "x" } });
        await send(plane, "POST", "/api/v1/namespaces/default/configmaps", { body });
        await plane.snapshot().save(file);
      }
      await expect(ControlPlaneSnapshot.load(file)).resolves.toBeInstanceOf(ControlPlaneSnapshot);
      const lines = readFileSync(file, "utf8").split("\n");
      const changed = lines.map((line) => {
        if (!line.includes('"key":"default/x"')) return line;
        const parsed = JSON.parse(line);
        return JSON.stringify({ ...parsed, object: poison(parsed.object) });
      });
      writeFileSync(file, changed.join("\n"));
      await expect(ControlPlaneSnapshot.load(file)).rejects.toThrow(
        /the snapshot .*a.snapshot cannot be read: \/configmaps default\/x: /,
      );
    },
  );
});
