import type { Client } from "setpoint";
import { systemClock } from "setpoint/clock";
import { ClusterRole, ClusterRoleBinding } from "setpoint/kinds/rbac.authorization.k8s.io/v1";
import { ServiceAccount } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { openStore } from "./database/open-store.js";
import { fromThisMachine, reviewed, startApi } from "./rest-api.js";

const namespace = "default";

/** Access over REST, decided by an API server with RBAC. */
export function restApiSuite(server: string, clientOf: () => Client): void {
  describe(`the REST API before ${server}`, () => {
    it("answers only holders of a token that RBAC allows to list the objects", async () => {
      const client = clientOf();
      const token = async (name: string): Promise<string> => {
        await client.create(ServiceAccount, { metadata: { name, namespace } });
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
        const made = await client.createSubresource<{ status: { token: string } }>(ServiceAccount, name, {
          subresource: "token",
          body: body as never,
          namespace,
        });
        return made.status.token;
      };
      const [reader, other] = [await token("reader"), await token("other")];
      const rules = [{ apiGroups: ["kagent.dev"], resources: ["remotemcpservers", "mcpservers"], verbs: ["list"] }];
      await client.create(ClusterRole, { metadata: { name: "agents-reader" }, rules } as never);
      await client.create(ClusterRoleBinding, {
        metadata: { name: "agents-reader" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "agents-reader" },
        subjects: [{ kind: "ServiceAccount", name: "reader", namespace }],
      } as never);
      await using store = await openStore(":memory:", systemClock);
      await using api = await startApi({ store, client }, "127.0.0.1", 0, reviewed(client));
      const status = async (path: string, authorization?: string) =>
        (await fetch(`${api.url}${path}`, { headers: authorization ? { authorization } : {} })).status;
      // A real server notices a new role some moments after it is stored.
      await expect.poll(() => status("/api/tools", `Bearer ${reader}`), { timeout: 10_000 }).toBe(200);
      expect(await status("/api/agents", `Bearer ${reader}`)).toBe(403);
      expect(await status("/api/tools", `Bearer ${other}`)).toBe(403);
      expect(await status("/api/tools", "Bearer nonsense")).toBe(401);
      expect(await status("/api/tools", "Basic eDp5")).toBe(401);
      expect(await status("/api/tools")).toBe(401);
    });

    it("answers this machine on a loopback address, but not a page of another host", async () => {
      await using store = await openStore(":memory:", systemClock);
      await using api = await startApi({ store, client: clientOf() }, "127.0.0.1", 0, fromThisMachine);
      expect((await fetch(`${api.url}/api/tools`)).status).toBe(200);
      const { request } = await import("node:http");
      const status = await new Promise((resolve) => {
        request(`${api.url}/api/tools`, { headers: { host: "evil.example" } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        }).end();
      });
      expect(status).toBe(403);
    });
  });
}
