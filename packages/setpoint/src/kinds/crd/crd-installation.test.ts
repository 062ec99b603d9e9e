import { describe, expect, it } from "vitest";
import { z } from "zod";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { SetpointError } from "../../errors/error.js";
import type { CustomResourceDefinition } from "../builtin/apiextensions.k8s.io/v1.js";
import { resource } from "../resource.js";
import type { CrdManifest } from "./crd.js";
import { putCrd } from "./crd-installation.js";
import type { CrdClient } from "./install-crd.js";

const crdWith = (spec: z.ZodObject) => resource("web.example.com/v1/Website", { spec }).crd();
const plain = crdWith(z.object({ image: z.string() }));
const wider = crdWith(z.object({ image: z.string(), color: z.string().optional() }));
const narrower = crdWith(z.object({ image: z.string().max(3) }));

/** A server that keeps one definition and establishes it after so many reads. */
class OneDefinition implements CrdClient {
  readonly requests: string[] = [];
  stored: CustomResourceDefinition | undefined;
  looksUntilEstablished = 0;
  failNextWriteWith: SetpointError | undefined;
  namesAccepted = true;

  async find(): Promise<never> {
    this.requests.push("find");
    if (!this.stored) return undefined as never;
    const isEstablished = this.looksUntilEstablished-- <= 0;
    const conditions = [
      {
        type: "NamesAccepted",
        status: this.namesAccepted ? "True" : "False",
        reason: "PluralConflict",
        message: "taken",
      },
      { type: "Established", status: isEstablished && this.namesAccepted ? "True" : "False", message: "installing" },
    ];
    return { ...this.stored, status: { conditions, storedVersions: ["v1"] } } as never;
  }

  async create(_kind: unknown, object: unknown): Promise<never> {
    return this.#write("create", object);
  }

  async update(_kind: unknown, object: unknown): Promise<never> {
    return this.#write("update", object);
  }

  #write(request: string, object: unknown): never {
    this.requests.push(request);
    const error = this.failNextWriteWith;
    this.failNextWriteWith = undefined;
    if (error) throw error;
    this.stored = JSON.parse(JSON.stringify(object)) as CustomResourceDefinition;
    return this.stored as never;
  }
}

const server = (stored?: CrdManifest): OneDefinition => {
  const client = new OneDefinition();
  client.stored = stored && (JSON.parse(JSON.stringify(stored)) as CustomResourceDefinition);
  return client;
};

describe("installing a CustomResourceDefinition", () => {
  it("creates it and waits until it is established", async () => {
    const client = server();
    client.looksUntilEstablished = 3;
    const clock = new VirtualClock();
    const installing = putCrd(client, plain, { clock });
    await clock.advance(1_000);
    expect(await installing).toBe("created");
    expect(client.requests).toEqual(["find", "create", "find", "find", "find", "find"]);
  });

  it("leaves an equal one alone", async () => {
    const client = server(plain);
    expect(await putCrd(client, plain)).toBe("unchanged");
    expect(client.requests).not.toContain("update");
  });

  it("replaces an older one, and keeps foreign metadata", async () => {
    const client = server({ ...plain, metadata: { ...plain.metadata, labels: { theirs: "yes" } } });
    const labelled = { ...wider, metadata: { ...wider.metadata, labels: { ours: "yes" } } };
    expect(await putCrd(client, labelled)).toBe("updated");
    expect(client.stored?.metadata.labels).toEqual({ theirs: "yes", ours: "yes" });
    expect(client.stored?.spec).toEqual(wider.spec);
  });

  it("does not make an incompatible change unless told to", async () => {
    const client = server(plain);
    await expect(putCrd(client, narrower)).rejects.toMatchObject({
      code: "CRD_INCOMPATIBLE",
      message: expect.stringContaining("websites.web.example.com: v1: spec.image: maxLength is 3 now"),
    });
    expect(client.requests).toEqual(["find"]);
    expect(await putCrd(client, narrower, { allowIncompatible: true })).toBe("updated");
  });

  it("never drops a version that objects are stored in", async () => {
    const next = resource("web.example.com/v2/Website", { spec: z.object({ image: z.string() }) }).crd();
    await expect(putCrd(server(plain), next, { allowIncompatible: true })).rejects.toMatchObject({
      code: "CRD_REFUSED",
    });
  });

  it.each(["API_CONFLICT", "API_ALREADY_EXISTS"])("reads it again after %s", async (code) => {
    const client = server(code === "API_CONFLICT" ? plain : undefined);
    client.failNextWriteWith = new SetpointError(code, "somebody was faster");
    expect(await putCrd(client, wider)).toBe(code === "API_CONFLICT" ? "updated" : "created");
  });

  it("reports why it is not served", async () => {
    const client = server();
    client.namesAccepted = false;
    const taken = putCrd(client, plain);
    await expect(taken).rejects.toMatchObject({ code: "CRD_NOT_ESTABLISHED", message: /PluralConflict: taken/ });
  });

  it("gives up after its timeout, and at once when aborted", async () => {
    const client = server(plain);
    client.looksUntilEstablished = Number.POSITIVE_INFINITY;
    const clock = new VirtualClock();
    const late = expect(putCrd(client, plain, { clock, timeout: "2s" })).rejects.toMatchObject({
      code: "CRD_NOT_ESTABLISHED",
      message: expect.stringContaining("Established is False (installing)"),
    });
    await clock.advance(3_000);
    await late;
    const controller = new AbortController();
    const aborted = expect(putCrd(client, plain, { clock, signal: controller.signal })).rejects.toThrow("enough");
    await clock.settle();
    controller.abort(new Error("enough"));
    await aborted;
  });
});
