import { describe, expect, it } from "vitest";
import type { AgentsOptions } from "./agents-app.js";
import type { ModelTarget } from "./controllers/shared.js";
import { AgentsError } from "./errors.js";
import { ModelConfig } from "./kinds/model-config.js";
import { ModelProviderConfig } from "./kinds/model-provider-config.js";
import { NS, type Place } from "./place.testing.js";
import { World } from "./world.testing.js";

const inNs = { namespace: NS };

/** The behaviour of model configurations and providers, at any place. */
export function modelsSuite(place: Place): void {
  const create = (options: Partial<AgentsOptions> = {}): Promise<World> => World.create(options, place);
  const provider = async (world: World, spec: object) => {
    const metadata = { name: "p", namespace: NS };
    await world.env.client.create(ModelProviderConfig, { metadata, spec } as never);
    await world.env.idle();
  };
  const status = async (world: World) => (await world.env.client.get(ModelProviderConfig, "p", inNs)).status;
  const conditions = async (world: World) =>
    Object.fromEntries(
      ((await status(world))?.conditions ?? []).map((each) => [each.type, `${each.status} ${each.reason}`]),
    );

  describe(`models on ${place.name}`, () => {
    it("a provider's models are listed once per specification and Secret, with the key of its Secret", async () => {
      const asked: ModelTarget[] = [];
      await using world = await create({
        askModels: async (target) => {
          asked.push(target);
          return ["m-2", "m-1"];
        },
      });
      const spec = { type: "OpenAI", endpoint: "http://models/v1/", secretRef: { name: "key" } };
      await provider(world, spec);
      expect(await conditions(world)).toMatchObject({
        SecretResolved: "False SecretNotFound",
        ModelsDiscovered: "False SecretNotFound",
        Ready: "False SecretNotFound",
      });
      expect(asked).toEqual([]);
      await world.secret("key", { "api-key": "sk-first" });
      expect(await conditions(world)).toMatchObject({
        SecretResolved: "True SecretResolved",
        ModelsDiscovered: "True ModelsDiscovered",
        Ready: "True Ready",
      });
      const first = await status(world);
      expect(first).toMatchObject({ discoveredModels: ["m-2", "m-1"], modelCount: 2, observedGeneration: 1 });
      expect(first?.lastDiscoveryTime).toMatch(/^\d{4}-.*Z$/);
      expect(first?.secretHash).toMatch(/^[0-9a-f]{64}$/);
      expect(asked).toMatchObject([{ url: "http://models/v1/models", headers: { authorization: "Bearer sk-first" } }]);
      await world.env.advance("3m");
      expect(asked).toHaveLength(1);
      await world.secret("key", { "api-key": "sk-second" });
      expect(asked[1]).toMatchObject({ headers: { authorization: "Bearer sk-second" } });
      expect((await status(world))?.secretHash).not.toBe(first?.secretHash);
      const body = { spec: { endpoint: "http://other/v1" } };
      await world.env.client.patch(ModelProviderConfig, "p", { type: "merge", body }, inNs);
      await world.env.idle();
      expect(asked[2]?.url).toBe("http://other/v1/models");
    });

    it("a failing provider shows why, and is asked again later", async () => {
      let isDown = true;
      await using world = await create({
        askModels: async () => {
          if (isDown) throw new AgentsError("MCP_UNAUTHORIZED", "models: HTTP status 401");
          return ["m"];
        },
      });
      await provider(world, { type: "Ollama" });
      expect(await conditions(world)).toMatchObject({
        SecretResolved: "True SecretResolved",
        ModelsDiscovered: "False DiscoveryFailed",
        Ready: "False DiscoveryFailed",
      });
      isDown = false;
      await world.env.advance("70s");
      expect(await conditions(world)).toMatchObject({ Ready: "True Ready" });
    });

    it("a provider whose models cannot be listed is usable", async () => {
      await using world = await create({ askModels: () => Promise.reject(new Error("nobody may ask")) });
      await world.secret("key", { token: "sk" });
      await provider(world, { type: "Bedrock", secretRef: { name: "key" } });
      expect(await conditions(world)).toMatchObject({ ModelsDiscovered: "False Unsupported", Ready: "True Ready" });
    });

    it("a provider that needs a Secret but names none is refused by the server", async () => {
      await using world = await create();
      await expect(provider(world, { type: "OpenAI" })).rejects.toThrow("secretRef is required");
    });

    it("a ModelConfig lists everything that is missing at once, and hashes what it uses", async () => {
      await using world = await create();
      await world.model("model", { tls: { caCertSecretRef: "ca", caCertSecretKey: "ca.crt" } });
      expect(await world.condition(ModelConfig, "model", "Accepted")).toMatchObject({
        status: "False",
        reason: "ModelConfigReconcileFailed",
        message: "Secret test/key not found; Secret test/ca not found",
      });
      await world.secret("key", { other: "x" });
      await world.secret("ca", { "ca.crt": "pem" });
      expect((await world.condition(ModelConfig, "model", "Accepted"))?.message).toBe(
        'Secret test/key has no key "api-key"',
      );
      await world.secret("key", { "api-key": "sk" });
      expect(await world.accepted(ModelConfig, "model")).toBe("True ModelConfigReconciled");
      await world.model("bare", {
        provider: "Ollama",
        ollama: { host: "h" },
        apiKeySecret: undefined,
        apiKeySecretKey: undefined,
      });
      // The hash of an empty input.
      expect((await world.env.client.get(ModelConfig, "bare", inNs)).status?.secretHash).toMatch(/^e3b0c44298fc1c14/);
    });
  });
}
