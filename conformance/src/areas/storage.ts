import { area } from "../case.js";
import type { Body, Reply, Session } from "../session.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const MINE = "labelSelector=mine";
const configMap = (name: string, data: object = {}): object => ({ metadata: { name, labels: { mine: "" } }, data });

const make = async (s: Session, name: string, data: object = {}): Promise<Body> =>
  (await s.post(path(s), configMap(name, data), { silent: true })).body;
const versionOf = ({ metadata }: Body): bigint => BigInt(metadata.resourceVersion);
const names = ({ body }: Reply): readonly string[] =>
  body.items.map((each: Body) => `${each.metadata.name}=${each.data?.k ?? ""}`);

/** Guarantees of the storage for any kind: one counter, consistent past states, no lost update. */
export const storageCases = area("storage", {
  "one counter counts the writes of all kinds": async (s) => {
    const first = await make(s, "a");
    const inNamespace = `/api/v1/namespaces/${s.namespace}`;
    const secret = await s.post(`${inNamespace}/secrets`, { metadata: { name: "b" } }, { silent: true });
    const account = await s.post(`${inNamespace}/serviceaccounts`, { metadata: { name: "c" } }, { silent: true });
    const versions = [first, secret.body, account.body].map(versionOf);
    s.note(
      "rises",
      versions.every((version, index) => index === 0 || version > versions[index - 1]!),
    );
  },
  "a delete counts as a write": async (s) => {
    const made = await make(s, "a");
    using watch = await s.watch(`${path(s)}?watch=true&resourceVersion=${made.metadata.resourceVersion}`);
    await s.delete(`${path(s)}/a`, undefined, { silent: true });
    const [event] = await watch.take(1);
    s.note("rises", versionOf(event.object) > versionOf(made));
  },
  "what changes nothing does not count": async (s) => {
    const made = await make(s, "a", { k: "1" });
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { mine: "1" } };
    const applied = await s.apply("me", `${path(s)}/a`, config);
    const again = await s.apply("me", `${path(s)}/a`, config);
    const patched = await s.patch("merge", `${path(s)}/a`, { data: { k: "1" } });
    const put = await s.put(`${path(s)}/a`, patched.body);
    s.note("versions", [
      versionOf(applied.body) > versionOf(made),
      ...[again, patched, put].map(({ body }) => versionOf(body) === versionOf(applied.body)),
    ]);
  },
  "a dry run does not count": async (s) => {
    const made = await make(s, "a");
    for (const method of ["PUT", "DELETE"] as const) {
      await s.send(method, `${path(s)}/a?dryRun=All`, method === "PUT" ? configMap("a", { k: "x" }) : undefined, {
        silent: true,
      });
    }
    await s.post(`${path(s)}?dryRun=All`, configMap("b"), { silent: true });
    const list = await s.get(`${path(s)}?${MINE}`, { silent: true });
    s.note("unchanged", [names(list), versionOf(list.body.items[0]) === versionOf(made)]);
  },
  "the past is there as it was": async (s) => {
    await make(s, "a", { k: "1" });
    const then = await make(s, "b", { k: "1" });
    await s.patch("merge", `${path(s)}/a`, { data: { k: "2" } }, { silent: true });
    await s.delete(`${path(s)}/b`, undefined, { silent: true });
    await make(s, "c");
    const at = `resourceVersion=${then.metadata.resourceVersion}`;
    const exact = await s.get(`${path(s)}?${MINE}&${at}&resourceVersionMatch=Exact`, { silent: true });
    const newer = await s.get(`${path(s)}?${MINE}&${at}&resourceVersionMatch=NotOlderThan`, { silent: true });
    s.note("exact", [names(exact), exact.body.metadata.resourceVersion === then.metadata.resourceVersion]);
    s.note("not older", names(newer));
  },
  "pages show one state": async (s) => {
    for (const name of ["a", "b", "c", "d"]) await make(s, name, { k: "1" });
    const first = await s.get(`${path(s)}?${MINE}&limit=2`, { silent: true });
    await s.delete(`${path(s)}/c`, undefined, { silent: true });
    await s.patch("merge", `${path(s)}/d`, { data: { k: "2" } }, { silent: true });
    await make(s, "e");
    const next = `continue=${encodeURIComponent(first.body.metadata.continue)}`;
    const second = await s.get(`${path(s)}?${MINE}&limit=2&${next}`, { silent: true });
    s.note("pages", [names(first), names(second), second.body.metadata.continue === undefined ? "end" : "more"]);
    s.note("one state", first.body.metadata.resourceVersion === second.body.metadata.resourceVersion);
  },
  "a watch replays what happened since": async (s) => {
    const from = await make(s, "a", { k: "0" });
    for (const k of ["1", "2", "3"]) await s.patch("merge", `${path(s)}/a`, { data: { k } }, { silent: true });
    await make(s, "b");
    await s.delete(`${path(s)}/a`, undefined, { silent: true });
    await make(s, "a", { k: "4" });
    using watch = await s.watch(`${path(s)}?watch=true&${MINE}&resourceVersion=${from.metadata.resourceVersion}`);
    await watch.take(6);
  },
  "of updates at once from one state, one wins": async (s) => {
    const made = await make(s, "a");
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        s.put(`${path(s)}/a`, { ...made, data: { k: String(index) } }, { silent: true }),
      ),
    );
    s.note("statuses", replies.map(({ status }) => status).sort());
  },
  "of creates at once under one name, one wins": async (s) => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => s.post(path(s), configMap("a", { k: String(index) }), { silent: true })),
    );
    const won = replies.find(({ status }) => status === 201)!;
    const stored = await s.get(`${path(s)}/a`, { silent: true });
    s.note("statuses", replies.map(({ status }) => status).sort());
    s.note("kept", stored.body.data.k === won.body.data.k);
  },
  "patches at once are all kept": async (s) => {
    await make(s, "a", { first: "0" });
    const replies = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        s.patch("json", `${path(s)}/a`, [{ op: "add", path: `/data/p${index}`, value: "x" }], { silent: true }),
      ),
    );
    const { body } = await s.get(`${path(s)}/a`, { silent: true });
    s.note(
      "statuses",
      replies.map(({ status }) => status),
    );
    s.note("kept", Object.keys(body.data).sort());
    s.note("versions differ", new Set(replies.map((reply) => reply.body.metadata.resourceVersion)).size);
  },
  "of deletes at once, one finds it": async (s) => {
    await make(s, "a");
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => s.delete(`${path(s)}/a`, undefined, { silent: true })),
    );
    s.note("statuses", replies.map(({ status }) => status).sort());
  },
  "a name that comes back is another object": async (s) => {
    const before = await make(s, "a");
    await s.delete(`${path(s)}/a`, undefined, { silent: true });
    const after = await make(s, "a");
    s.note("differ", [before.metadata.uid !== after.metadata.uid, versionOf(after) > versionOf(before)]);
    await s.put(`${path(s)}/a`, { ...before, metadata: { ...before.metadata, resourceVersion: undefined } });
  },
  "what is to come is not there yet": async (s) => {
    const made = await make(s, "a");
    const future = String(versionOf(made) + 1_000_000n);
    for (const query of [`resourceVersion=${future}`, `resourceVersion=${future}&resourceVersionMatch=Exact`]) {
      const { status, body, headers } = await s.get(`${path(s)}?${query}`, { silent: true });
      s.note(query.replace(future, "N"), [status, body.reason, headers["retry-after"], body.details?.causes]);
    }
    const { status, body } = await s.get(`${path(s)}/a?resourceVersion=${future}`, { silent: true });
    s.note("get", [status, body.reason, body.details?.retryAfterSeconds]);
  },
});
