import { area } from "../../case.js";
import type { Session } from "../../session.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
/** Leaves out objects that controllers create in every namespace. */
const mine = "labelSelector=mine";

async function fill(s: Session, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await s.post(
      path(s),
      { metadata: { name: `c${index}`, labels: { mine: "", even: String(index % 2 === 0) } } },
      { silent: true },
    );
  }
}

export const listCases = area("list", {
  "an empty collection": async (s) => {
    await s.get(`/apis/apps/v1/namespaces/${s.namespace}/deployments`);
  },
  "in key order": async (s) => {
    for (const name of ["b", "a-b", "a", "a.b", "a0"])
      await s.post(path(s), { metadata: { name, labels: { mine: "" } } }, { silent: true });
    await s.get(`${path(s)}?${mine}`);
  },
  "in pages": async (s) => {
    await fill(s, 5);
    const first = await s.get(`${path(s)}?limit=2`, { silent: true });
    s.note("first page", [
      first.body.items.length,
      first.body.metadata.remainingItemCount,
      first.body.metadata.continue !== "",
    ]);
    const pages = [await s.get(`${path(s)}?${mine}&limit=2`)];
    while (pages.at(-1)!.body.metadata.continue) {
      pages.push(
        await s.get(`${path(s)}?${mine}&limit=2&continue=${encodeURIComponent(pages.at(-1)!.body.metadata.continue)}`, {
          silent: true,
        }),
      );
      s.note("page", [
        pages.at(-1)!.status,
        pages.at(-1)!.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ]);
    }
    s.note("one revision", new Set(pages.map((page) => page.body.metadata.resourceVersion)).size);
  },
  "pages do not see later writes": async (s) => {
    await fill(s, 4);
    const { body } = await s.get(`${path(s)}?${mine}&limit=2`);
    await s.delete(`${path(s)}/c3`);
    await s.post(path(s), { metadata: { name: "c9", labels: { mine: "" } } });
    const rest = await s.get(`${path(s)}?${mine}&continue=${encodeURIComponent(body.metadata.continue)}`, {
      silent: true,
    });
    s.note(
      "rest",
      rest.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    );
  },
  "with a continue token that is not one": async (s) => {
    await s.get(`${path(s)}?limit=2&continue=nonsense`);
    await s.get(
      `${path(s)}?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":-5,"start":"x"}').toString("base64url")}`,
    );
    await s.get(`${path(s)}?continue=${Buffer.from('{"v":"v0","rv":5,"start":"x"}').toString("base64url")}`);
    await s.get(`${path(s)}?continue=x&resourceVersion=5`);
  },
  "with resourceVersion rules": async (s) => {
    for (const query of [
      "resourceVersion=abc",
      "resourceVersion=-1",
      "resourceVersionMatch=Exact",
      "resourceVersionMatch=NotOlderThan",
      "resourceVersion=0&resourceVersionMatch=Exact",
      "resourceVersion=1&resourceVersionMatch=Sometimes",
      "resourceVersion=0&continue=x",
      "limit=-1",
      "limit=x",
    ]) {
      await s.get(`${path(s)}?${mine}&${query}`);
    }
  },
  "at an exact revision": async (s) => {
    await fill(s, 2);
    const { body } = await s.get(`${path(s)}?${mine}`);
    await s.delete(`${path(s)}/c0`);
    const version = body.metadata.resourceVersion;
    const then = await s.get(`${path(s)}?${mine}&resourceVersion=${version}&resourceVersionMatch=Exact`, {
      silent: true,
    });
    s.note("then", [then.status, then.body.items.length, then.body.metadata.resourceVersion === version]);
    const now = await s.get(`${path(s)}?${mine}&resourceVersion=${version}&resourceVersionMatch=NotOlderThan`, {
      silent: true,
    });
    s.note("now", [now.status, now.body.items.length]);
  },
  "in the future": async (s) => {
    const reply = await s.get(`${path(s)}?resourceVersion=999999999`, { silent: true });
    s.note("too large", [reply.status, reply.body.reason, reply.body.details, reply.headers["retry-after"]]);
  },
  "by labels": async (s) => {
    await fill(s, 4);
    for (const selector of [
      "even=true",
      "even==true",
      "even!=true",
      "even in (true,x)",
      "even notin (true)",
      "!even",
      "even",
      "mine=,even=false",
      "even>1",
      "x in ()",
      "a b",
      "even=true,",
      "=x",
      "even=a:b",
    ]) {
      await s.get(`${path(s)}?labelSelector=${encodeURIComponent(`mine,${selector}`)}`);
    }
  },
  "by fields": async (s) => {
    await fill(s, 3);
    for (const selector of [
      "metadata.name=c1",
      "metadata.name!=c1",
      `metadata.namespace=${s.namespace}`,
      "metadata.name=c1,metadata.namespace=x",
      "data.x=y",
      "metadata.name",
      "metadata.name=a=b",
    ]) {
      await s.get(`${path(s)}?${mine}&fieldSelector=${encodeURIComponent(selector)}`);
    }
  },
  "secrets by type": async (s) => {
    const secrets = `/api/v1/namespaces/${s.namespace}/secrets`;
    await s.post(secrets, { metadata: { name: "a" }, type: "x" });
    await s.post(secrets, { metadata: { name: "b" } });
    await s.get(`${secrets}?fieldSelector=type%3Dx`);
    await s.get(`${secrets}?fieldSelector=type!%3Dx`);
  },
  "of every namespace": async (s) => {
    await s.post(path(s), { metadata: { name: "a", labels: { only: s.namespace } } });
    await s.get(`/api/v1/configmaps?labelSelector=only%3D${s.namespace}`);
  },
  "with pretty output": async (s) => {
    await fill(s, 1);
    const plain = await s.get(`${path(s)}/c0`, { silent: true });
    const pretty = await s.get(`${path(s)}/c0?pretty=true`, { silent: true });
    const curl = await s.get(`${path(s)}/c0`, { silent: true, headers: { "user-agent": "curl/8.0" } });
    s.note(
      "lines",
      [plain, pretty, curl].map((reply) => reply.text.split("\n").length > 3),
    );
    s.note(
      "last",
      [plain, pretty, curl].map((reply) => reply.text.at(-1)),
    );
  },
});
