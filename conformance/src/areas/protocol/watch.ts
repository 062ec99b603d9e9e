import { area } from "../../case.js";
import type { Session } from "../../session.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const mine = "labelSelector=mine";
const make = (s: Session, name: string, labels: Record<string, string> = { mine: "" }): Promise<unknown> =>
  s.post(path(s), { metadata: { name, labels } }, { silent: true });

async function version(s: Session): Promise<string> {
  return (await s.get(path(s), { silent: true })).body.metadata.resourceVersion;
}

export const watchCases = area("watch", {
  "from a revision": async (s) => {
    const from = await version(s);
    using watch = await s.watch(`${path(s)}?watch=true&${mine}&resourceVersion=${from}`);
    await make(s, "a");
    await s.patch("merge", `${path(s)}/a`, { data: { k: "v" } }, { silent: true });
    await s.delete(`${path(s)}/a`, undefined, { silent: true });
    await watch.take(3);
  },
  "starts with what is there": async (s) => {
    await make(s, "a");
    await make(s, "b");
    using watch = await s.watch(`${path(s)}?watch=true&${mine}`);
    await watch.take(2);
    await make(s, "c");
    await watch.take(1);
  },
  "sends the initial events and their end": async (s) => {
    await make(s, "a");
    using watch = await s.watch(
      `${path(s)}?watch=true&${mine}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    const events = await watch.take(2, { bookmarks: true });
    s.note("last", events.at(-1)?.object.metadata.annotations);
    await make(s, "b");
    await watch.take(1);
  },
  "of an empty collection ends its initial events too": async (s) => {
    using watch = await s.watch(
      `/apis/apps/v1/namespaces/${s.namespace}/deployments?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    await watch.take(1, { bookmarks: true });
  },
  "with parameters that do not go together": async (s) => {
    await s.get(`${path(s)}?watch=true&sendInitialEvents=true`);
    await s.get(`${path(s)}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact`);
    await s.get(`${path(s)}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    await s.get(`${path(s)}?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1&timeoutSeconds=1`);
    await s.get(`${path(s)}?watch=true&resourceVersion=abc`);
  },
  "an object that enters and leaves a selector": async (s) => {
    await make(s, "a", {});
    const from = await version(s);
    using watch = await s.watch(`${path(s)}?watch=true&${mine}&resourceVersion=${from}`);
    await s.patch("merge", `${path(s)}/a`, { metadata: { labels: { mine: "" } } }, { silent: true });
    await s.patch("merge", `${path(s)}/a`, { data: { k: "v" } }, { silent: true });
    await s.patch("merge", `${path(s)}/a`, { metadata: { labels: { mine: null } } }, { silent: true });
    await s.delete(`${path(s)}/a`, undefined, { silent: true });
    await watch.take(3);
  },
  "one object by name": async (s) => {
    using watch = await s.watch(`${path(s)}?watch=true&fieldSelector=metadata.name%3Da`);
    await make(s, "b");
    await make(s, "a");
    await watch.take(1);
  },
  "through the path of one object": async (s) => {
    await make(s, "a");
    using watch = await s.watch(`/api/v1/watch/namespaces/${s.namespace}/configmaps/a`);
    await watch.take(1);
  },
  "ends after its timeout": async (s) => {
    using watch = await s.watch(`${path(s)}?watch=true&${mine}&timeoutSeconds=1`);
    await watch.end();
  },
  "from a revision that is too old": async (s) => {
    using watch = await s.watch(`${path(s)}?watch=true&${mine}&resourceVersion=1`);
    const [event] = await watch.take(1, { timeoutMs: 20_000 });
    s.note("type", event?.type);
  },
  "as tables": async (s) => {
    await make(s, "a");
    using watch = await s.watch(`${path(s)}?watch=true&${mine}`, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
    });
    const [first] = await watch.take(1);
    s.note("columns", first.object.columnDefinitions?.length);
    await make(s, "b");
    const [second] = await watch.take(1);
    s.note("columns", second.object.columnDefinitions);
  },
  "as metadata": async (s) => {
    await make(s, "a");
    using watch = await s.watch(`${path(s)}?watch=true&${mine}`, {
      headers: { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json" },
    });
    await watch.take(1);
  },
  "a no-op update is no event": async (s) => {
    await make(s, "a");
    using watch = await s.watch(`${path(s)}?watch=true&${mine}`);
    await watch.take(1);
    await s.patch("merge", `${path(s)}/a`, { metadata: { labels: { mine: "" } } });
    await s.patch("merge", `${path(s)}/a`, { data: { k: "v" } });
    await watch.take(1);
  },
});
