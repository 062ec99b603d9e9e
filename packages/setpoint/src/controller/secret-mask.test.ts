import { describe, expect, it } from "vitest";
import { SetpointError } from "../errors/error.js";
import { Secret } from "../kinds/builtin/v1.js";
import { controller } from "./controller.js";
import type { LogFields, Logger } from "./logger.js";
import { SecretMask } from "./secret-mask.js";
import { watcher } from "./watcher.js";
import { Website, World } from "./world.testing.js";

const VALUE = "tr0ub4dor&3";
const ENCODED = Buffer.from(VALUE).toString("base64");

/** Everything that was logged, as one text. */
class Lines {
  text = "";
  readonly log: Logger = this.#logger({});

  #logger(bound: LogFields): Logger {
    const add = (message: string, fields: LogFields = {}): void => {
      const shown = { ...bound, ...fields };
      const errors = Object.values(shown).map((value) => (value instanceof Error ? String(value.stack) : ""));
      this.text += `${message} ${JSON.stringify(shown)} ${errors.join(" ")}\n`;
    };
    return { debug: add, info: add, warn: add, error: add, with: (fields) => this.#logger({ ...bound, ...fields }) };
  }
}

async function worldWithSecret(): Promise<World> {
  const world = await World.create();
  await world.client.create(Secret, {
    metadata: { namespace: "team", name: "login" },
    data: { password: ENCODED },
  });
  return world;
}

describe("values of Secrets", () => {
  it("reach neither logs, events, timeline, conditions nor errors, wherever code quotes them", async () => {
    await using world = await worldWithSecret();
    const lines = new Lines();
    const told: string[] = [];
    const sites = controller(Website, {
      uses: [Secret],
      retry: { attempts: 0 },
      async reconcile(_site, ctx) {
        const { data } = await ctx.get(Secret, "login");
        const value = Buffer.from(data?.password ?? "", "base64").toString();
        ctx.log.info(`logging in with ${value}`, { header: { authorization: [`Basic ${data?.password}`] } });
        ctx.event("Warning", "Refused", `the database refused ${value}`);
        const cause = new Error(`wrong password ${value}`);
        throw new SetpointError("OBJECT_INVALID", `cannot log in: ${value}`, { cause });
      },
      onError: (error) => told.push(String((error as Error).stack), String((error as Error).cause)),
    });
    await world.run(sites, { log: lines.log });
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const seen = [lines.text, told.join(), JSON.stringify([world.events, world.runs(), await world.website("a")])];
    expect(told.length).toBeGreaterThan(0);
    for (const text of seen) {
      expect(text).toContain("***");
      expect(text).not.toContain(VALUE);
      expect(text).not.toContain(ENCODED);
    }
  });

  it("are masked in what a wait says, also where the Secret was only written", async () => {
    await using world = await World.create();
    const sites = controller(Website, {
      name: "waits",
      owns: [Secret],
      async reconcile(_site, ctx) {
        await ctx.apply(Secret, { metadata: { name: "made" }, stringData: { token: VALUE } });
        return ctx.waitFor("Login", { message: `with ${VALUE}` });
      },
    });
    await world.run(sites);
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    expect(world.runs().at(-1)?.reason).toBe("Login: with ***");
    expect(JSON.stringify(await world.website("a"))).not.toContain(VALUE);
  });

  it("are masked for watchers of Secrets", async () => {
    await using world = await worldWithSecret();
    const lines = new Lines();
    const fails = watcher(Secret, {
      retry: { attempts: 0 },
      add: ({ data }) => Promise.reject(new Error(`no use for ${data?.password}`)),
    });
    await world.watch(fails, { log: lines.log });
    await world.clock.advance(1_000);
    expect(lines.text).toContain("no use for ***");
    expect(lines.text).not.toContain(ENCODED);
  });
});

describe("SecretMask", () => {
  it("leaves text alone that holds no value, short words, and values of other kinds", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { user: "admin", password: VALUE } });
    mask.learn(Website, { data: { image: "nginx-latest" } });
    expect(mask.text(`admin of nginx-latest, ${VALUE}, ${ENCODED}`)).toBe("admin of nginx-latest, ***, ***");
    expect(mask.error("a text")).toBe("a text");
  });

  it("masks the whole of a value that begins as another one does", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { short: VALUE, long: `${VALUE}-and-more` } });
    expect(mask.text(`with ${VALUE}-and-more and ${VALUE}`)).toBe("with *** and ***");
  });
});
