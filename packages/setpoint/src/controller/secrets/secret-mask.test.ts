import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SetpointError } from "../../errors/error.js";
import { Secret } from "../../kinds/builtin/v1.js";
import type { LogFields, Logger } from "../../loop/logger.js";
import { waitFor } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { watcher } from "../watcher.js";
import { Website, World } from "../world.testing.js";
import { SecretMask } from "./secret-mask.js";

const VALUE = "tr0ub4dor&3";
const ENCODED = Buffer.from(VALUE).toString("base64");

/** All log output, as one string. */
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
  it("appear neither in logs, events, timeline, conditions nor errors, wherever code quotes them", async () => {
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

  it("are masked in the message of a wait, also if the Secret was only written", async () => {
    await using world = await World.create();
    const sites = controller(Website, {
      name: "waits",
      owns: [Secret],
      async reconcile(_site, ctx) {
        await ctx.apply(Secret, { metadata: { name: "made" }, stringData: { token: VALUE } });
        return waitFor("Login", { message: `with ${VALUE}` });
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

  it("are learnt from patches, and from responses", async () => {
    await using world = await World.create();
    const GIVEN = "made-by-the-cluster";
    const sites = controller(Website, {
      owns: [Secret],
      async reconcile({ spec: { image } }, ctx) {
        await ctx.create(Secret, { metadata: { name: image } });
        const value = `${VALUE}-${image}`;
        const operations = [
          { op: "add", path: "/data", value: { token: Buffer.from(value).toString("base64") } },
        ] as const;
        if (image === "merge") {
          await ctx.patch(Secret, image, { type: "merge", body: { stringData: { token: value } } });
        } else if (image === "json") await ctx.patch(Secret, image, { type: "json", operations });
        // Somebody else sets a value meanwhile, which only the response contains.
        const data = { theirs: Buffer.from(GIVEN + image).toString("base64") };
        await world.client.patch(Secret, image, { type: "merge", body: { data } }, { namespace: "team" });
        await ctx.patch(Secret, image, { type: "merge", body: { metadata: { labels: { seen: "yes" } } } });
        return waitFor("Login", { message: `with ${value} and ${GIVEN}${image}` });
      },
    });
    await world.run(sites);
    for (const image of ["merge", "json"]) await world.createWebsite(image, { image });
    await world.clock.advance(1_000);
    for (const name of ["merge", "json"]) {
      expect(world.runs(`team/${name}`)[0]?.reason).toBe("Login: with *** and ***");
    }
  });
});

describe("SecretMask", () => {
  it("leaves other text alone: short words, and values of other kinds", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { user: "admin", password: VALUE } });
    mask.learn(Website, { data: { image: "nginx-latest" } });
    expect(mask.text(`admin of nginx-latest, ${VALUE}, ${ENCODED}`)).toBe("admin of nginx-latest, ***, ***");
    expect(mask.error("a text")).toBe("a text");
  });

  it("masks the whole of a value that shares its beginning with another", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { short: VALUE, long: `${VALUE}-and-more` } });
    expect(mask.text(`with ${VALUE}-and-more and ${VALUE}`)).toBe("with *** and ***");
  });

  it("masks two values that overlap, and adjacent values", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { one: "abcdefgh", other: "efghijkl" } });
    expect(mask.text("<abcdefghijkl>")).toBe("<***>");
    expect(mask.text("<abcdefghefghijkl>")).toBe("<******>");
  });

  it("learns many values, and forgets the oldest beyond its limit", () => {
    const mask = new SecretMask({ maxCharacters: 1_000 });
    const value = (at: number): string => `value-${at}`.padEnd(20, "x");
    for (let at = 0; at < 100; at++) mask.learn(Secret, { stringData: { value: value(at) } });
    expect(mask.text(value(99))).toBe("***");
    expect(mask.text(value(0))).toBe(value(0));
    const roomy = new SecretMask();
    for (let at = 0; at < 20_000; at++) roomy.learn(Secret, { stringData: { value: value(at) } });
    expect(roomy.text(`${value(0)} ${value(19_999)}`)).toBe("*** ***");
  });

  it("masks the same text as a plain search", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "ü"), minLength: 6, maxLength: 9 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 6 }), (values, words) => {
        const mask = new SecretMask();
        for (const value of values) mask.learn(Secret, { stringData: { value } });
        const text = words.join("");
        const hidden = [...text].map((_, at) =>
          values.some((value) => {
            for (let start = Math.max(0, at - value.length + 1); start <= at; start++)
              if (text.startsWith(value, start)) return true;
            return false;
          }),
        );
        const shown = [...text].filter((_, at) => !hidden[at]).join("");
        expect(mask.text(text).replaceAll("*", "")).toBe(shown);
      }),
    );
  });

  it("masks causes that are no errors, and each error of an AggregateError", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { password: VALUE } });
    const plain = mask.error(new Error("no login", { cause: { password: VALUE, tried: [VALUE] } }));
    expect(plain.cause).toEqual({ password: "***", tried: ["***"] });
    expect(mask.error(new Error("no login", { cause: `wrong ${VALUE}` })).cause).toBe("wrong ***");
    const several = mask.error(new AggregateError([new Error(VALUE), VALUE], "all failed"));
    expect(several.errors.map((each) => (each instanceof Error ? each.message : each))).toEqual(["***", "***"]);
  });

  it("masks frozen errors in a copy, and circular causes once", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { password: VALUE } });
    const frozen = Object.freeze(new SetpointError("OBJECT_INVALID", `cannot log in: ${VALUE}`));
    const shown = mask.error(frozen);
    expect(shown).toBeInstanceOf(SetpointError);
    expect([shown.message, shown.code]).toEqual(["cannot log in: ***", "OBJECT_INVALID"]);
    expect(shown.stack).not.toContain(VALUE);
    const ring: Error & { cause?: unknown } = new Error(VALUE);
    ring.cause = new Error(VALUE, { cause: ring });
    expect(mask.error(ring).message).toBe("***");
    expect((ring.cause as Error).message).toBe("***");
  });

  it("does not throw for log fields that are circular or cannot be read", () => {
    const mask = new SecretMask();
    mask.learn(Secret, { stringData: { password: VALUE } });
    const lines: LogFields[] = [];
    const add = (_: string, fields: LogFields = {}): void => void lines.push(fields);
    const log: Logger = { debug: add, info: add, warn: add, error: add, with: () => log };
    const ring: Record<string, unknown> = { password: VALUE };
    ring.self = ring;
    mask.logger(log).info("a ring", { ring });
    const trap = {
      get password(): string {
        throw new Error(`not for you: ${VALUE}`);
      },
    };
    mask.logger(log).info("a trap", { trap });
    expect(lines[0]).toMatchObject({ ring: { self: { password: "***" } } });
    expect(lines[1]).toMatchObject({ unreadable: ["trap"], error: { message: "not for you: ***" } });
  });
});
