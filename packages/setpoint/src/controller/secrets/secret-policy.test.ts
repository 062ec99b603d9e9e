import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Secret } from "../../kinds/builtin/v1.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { controller } from "../controller.js";
import { Website, World } from "../world.testing.js";
import { SecretMask, type SecretMaskOptions } from "./secret-mask.js";
import { SECRET_KEYS, SecretPolicy } from "./secret-policy.js";

const secret = (stringData: Record<string, string>, annotations: Record<string, string> = {}) => ({
  metadata: { namespace: "team", name: "login", annotations },
  stringData,
});

function masked(text: string, data: Record<string, string>, options: SecretMaskOptions = {}, annotations = {}): string {
  const mask = new SecretMask(options);
  mask.learn(Secret, secret(data, annotations));
  return mask.text(text);
}

describe("which values of a Secret are masked", () => {
  it.each([
    ["password", "postgres"],
    ["POSTGRES_PASSWORD", "letmein"],
    ["dbPassword", "summer"],
    ["tls.key", "-----BEGIN PRIVATE KEY-----"],
    ["token", "abcdef"],
    ["url", "postgres://app:summer@db/default"],
    ["uri", "redis://:summer@cache"],
    ["anything", "x9-7Qm2!"],
    ["anything", "sesame"],
    ["username-token", "octopus"],
  ])("%s: %s is masked", (key, value) => {
    expect(new SecretPolicy().isSecret(key, value, undefined)).toBe(true);
  });

  it.each([
    ["database", "default"],
    ["user", "postgres"],
    ["username", "admin42"],
    ["host", "db-1.team.svc"],
    ["tls.crt", "-----BEGIN CERTIFICATE-----"],
    ["ca.crt", "-----BEGIN CERTIFICATE-----"],
    ["mode", "read-only"],
    ["anything", "Default"],
  ])("%s: %s is not masked", (key, value) => {
    expect(new SecretPolicy().isSecret(key, value, undefined)).toBe(false);
  });

  it("depends on the Secret's annotation, and on the options before that", () => {
    const data = { pepper: "paprika", password: "sesame-open" };
    const annotations = { [SECRET_KEYS]: "pepper" };
    expect(masked("paprika sesame-open", data, {}, annotations)).toBe("*** sesame-open");
    expect(masked("paprika sesame-open", data, { show: ["pep*"], mask: ["pass*"] }, annotations)).toBe("paprika ***");
    expect(masked("paprika", data, { show: ["*"], mask: ["pepper"] })).toBe("***");
  });

  it("includes the secret parts of a document, such as a registry's credentials", () => {
    const document = JSON.stringify({
      auths: { "registry.example.com": { username: "robot", password: "sesame-open" } },
    });
    const text = "registry.example.com refuses robot with sesame-open";
    expect(masked(text, { ".dockerconfigjson": document })).toBe("registry.example.com refuses robot with ***");
  });
});

describe("the name of an object", () => {
  it("is never masked: alone, in a key, within a longer name or before a full stop", () => {
    const mask = new SecretMask();
    mask.learn(Secret, secret({ password: "postgres", token: "default" }));
    mask.name("default/postgres");
    mask.name("team/postgres-0");
    expect(mask.text("default/postgres: pod team/postgres-0 waits for postgres.")).toBe(
      "default/postgres: pod team/postgres-0 waits for postgres.",
    );
    expect(mask.text("postgres-1 and mypostgres")).toBe("***-1 and my***");
  });

  it("is never masked, for random names and secrets", () => {
    const name = fc.stringMatching(/^[a-z]([a-z0-9-]{5,10}[a-z0-9])$/);
    fc.assert(
      fc.property(name, name, fc.nat(6), (namespace, other, cut) => {
        const mask = new SecretMask();
        mask.learn(Secret, secret({ password: other, token: namespace.slice(0, Math.max(6, namespace.length - cut)) }));
        mask.name(`${namespace}/${other}`);
        expect(mask.text(`reconcile of ${namespace}/${other} failed`)).toBe(
          `reconcile of ${namespace}/${other} failed`,
        );
      }),
    );
  });

  it("stays in the log of a run whose Secret holds common words", async () => {
    await using world = await World.create();
    const lines: string[] = [];
    const log: Logger = { ...silentLogger, error: (message) => void lines.push(message), with: () => log };
    const data = { database: "default", user: "postgres", password: "Website", token: "sesame-open" };
    const stringData = Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    );
    await world.client.create(Secret, { metadata: { name: "login", namespace: "team" }, data: stringData });
    const sites = controller(Website, {
      uses: [Secret],
      retry: { attempts: 0 },
      reconcile: async (_, ctx) => {
        await ctx.get(Secret, "login");
        throw new Error("Website cannot connect from default/a to postgres with sesame-open");
      },
    });
    await world.run(sites, { log });
    await world.createWebsite("postgres-primary");
    await world.clock.settle();
    expect(lines).toEqual([
      "reconcile of team/postgres-primary failed: Website cannot connect from default/a to postgres with ***",
    ]);
  });
});
