import { describe, expect, it, vi } from "vitest";
import { ApiError } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { type AdvertisedServer, findServer, type ServerPlace, serverPlace } from "./server-place.js";

const own = ["127.0.0.1", "::1", "192.168.1.20"];
const at = (address: string, port: number): AdvertisedServer => ({ addresses: [address], ports: [port] });

describe("the place of an API server", () => {
  it.each<[string, ServerPlace["type"], string, AdvertisedServer | undefined]>([
    ["the embedded one of this process", "here", "in-process", undefined],
    ["one of this machine", "here", "https://127.0.0.1:6443", at("192.168.1.20", 6443)],
    ["one of this machine behind a forwarded port", "here", "https://localhost:16443", at("192.168.1.20", 6443)],
    ["one that does not say where it is", "here", "https://[::1]:6443", undefined],
    ["one that has yet to say where it is", "here", "https://127.0.0.1:6443", { addresses: [], ports: [] }],
    ["kind's, in a container", "elsewhere", "https://127.0.0.1:39411", at("172.18.0.2", 6443)],
    ["a remote one behind an ssh tunnel", "elsewhere", "https://127.0.0.1:16443", at("10.0.0.5", 6443)],
    ["one behind the usual port of https", "elsewhere", "https://127.0.0.1", at("10.0.0.5", 6443)],
    ["a remote one", "elsewhere", "https://cluster.example.com:6443", at("192.168.1.20", 6443)],
    ["one whose port is forwarded unchanged", "unsure", "https://127.0.0.1:6443", at("192.168.5.15", 6443)],
  ])("of %s is %s", (_what, place, server, advertised) => {
    expect(serverPlace(server, advertised, own)).toMatchObject({ type: place });
  });

  it("is looked up only if the address leaves it open", async () => {
    const slice = { endpoints: [{ addresses: ["192.0.2.7"] }], ports: [{ port: 6443 }] };
    const get = vi.fn(async () => slice);
    const found = (server: string) => findServer({ server, get } as unknown as Client);
    expect(await found("in-process")).toEqual({ type: "here" });
    expect(await found("https://cluster.example.com")).toMatchObject({ type: "elsewhere" });
    expect(get).not.toHaveBeenCalled();
    expect(await found("https://127.0.0.1:39411")).toEqual({ type: "elsewhere", addresses: ["192.0.2.7"] });
  });

  it("is derived from the address if the client may not look it up", async () => {
    const request = { method: "GET", path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes" };
    const forbidden = new ApiError({ request, status: 403 });
    const client = { server: "https://127.0.0.1:6443", get: () => Promise.reject(forbidden) } as unknown as Client;
    expect(await findServer(client)).toEqual({ type: "here" });
  });

  it("rejects with the client's error if there was no answer", async () => {
    const cut = new Error("cut");
    const client = { server: "https://127.0.0.1:6443", get: () => Promise.reject(cut) } as unknown as Client;
    await expect(findServer(client)).rejects.toBe(cut);
  });
});
