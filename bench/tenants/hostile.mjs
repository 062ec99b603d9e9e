// The hostile tenant: 33 clients that attack in turns until their parent ends them. `edit` in one namespace is all it has.
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:tls";
import { Caller } from "./caller.mjs";

const CLIENTS = 33;
const port = Number(process.argv[2]);
const caller = new Caller(port, "hostile", CLIENTS);
const HOME = "/api/v1/namespaces/hostile";
const MAPS = `${HOME}/configmaps`;
let number = 0;

const post = (path, body, headers) => caller.send("POST", path, body, headers);
const review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const deep = (depth, inner) => `${'{"a":'.repeat(depth)}${inner}${"}".repeat(depth)}`;

const ATTACKS = {
  largeBodies: () => post(MAPS, { metadata: { generateName: "large-" }, data: { x: "x".repeat(2_900_000) } }),
  fieldManager: () => post(`${MAPS}?fieldManager=${"%01".repeat(2_000)}`, { metadata: { generateName: "f-" } }),
  aliases: () => {
    const items = `x: &a [${"{},".repeat(5_000)}]\ny: [${"*a,".repeat(99)}]\n`;
    const text = `apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\nspec: {}\n${items}`;
    return post(review, text, { "content-type": "application/yaml" });
  },
  yamlDepth: () => post(review, `a: ${"[".repeat(20_000)}`, { "content-type": "application/yaml" }),
  owners: () => {
    const owner = (at) => ({ apiVersion: "v1", kind: "Pod", name: `p${at}`, uid: `u${at}`, controller: true });
    return post(MAPS, {
      metadata: { generateName: "o-", ownerReferences: Array.from({ length: 8_000 }, (_, at) => owner(at)) },
    });
  },
  duplicates: () =>
    post(`${MAPS}?fieldValidation=Warn`, `{"metadata":{"generateName":"d-"},${'"x":1,'.repeat(100_000)}"y":1}`),
  deepDuplicates: () =>
    post(MAPS, `{"metadata":{"generateName":"e-"},"z":${deep(900, `{${'"b":1,'.repeat(50_000)}"c":1}`)}}`),
  conditions: () => {
    const conditions = Array.from({ length: 8_000 }, (_, at) => ({ type: `t${at}`, status: "True" }));
    return post(`${HOME}/pods`, { metadata: { generateName: "c-" }, spec: { containers: [] }, status: { conditions } });
  },
  hugeSet: () =>
    post("/apis/apps/v1/namespaces/hostile/statefulsets", {
      metadata: { generateName: "huge-" },
      spec: {
        replicas: 2_147_483_647,
        podManagementPolicy: "Parallel",
        serviceName: "x",
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "c" }] } },
      },
    }),
  circle: async () => {
    const names = ["a", "b", "c"].map((letter) => `${letter}-${number++}`);
    const uids = [];
    for (const name of names) uids.push(JSON.parse((await post(MAPS, { metadata: { name } })).text).metadata?.uid);
    for (const [at, name] of names.entries()) {
      const next = (at + 1) % 3;
      const owner = {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: names[next],
        uid: uids[next],
        blockOwnerDeletion: true,
      };
      const type = { "content-type": "application/merge-patch+json" };
      await caller.send("PATCH", `${MAPS}/${name}`, { metadata: { ownerReferences: [owner] } }, type);
    }
    return caller.send("DELETE", `${MAPS}/${names[0]}`, { propagationPolicy: "Foreground" });
  },
  lists: () => Promise.all(Array.from({ length: 20 }, () => caller.send("GET", `${HOME}/pods?limit=500`))),
  forbidden: () => post("/api/v1/namespaces/honest-a/configmaps", { metadata: { generateName: "stolen-" } }),
  version: () => raw("GET /healthz HTTP/2.0\r\nhost: a\r\n\r\n"),
  streams: () => streams(),
  forgotten: () => caller.send("DELETE", MAPS),
};

/** Bodies of nobody, on as many streams as a connection may have. */
function streams() {
  return new Promise((resolve) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on("error", () => {});
    session.on("close", resolve);
    const body = Buffer.alloc(2 ** 20);
    for (let count = 0; count < 300; count++) {
      const stream = session.request({ ":method": "POST", ":path": MAPS, "content-type": "application/json" });
      stream.on("error", () => {});
      stream.end(body);
    }
    setTimeout(() => session.destroy(), 1_000);
  });
}

function raw(text) {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => socket.write(text));
    socket.on("error", resolve).on("close", resolve).resume();
  });
}

const counts = {};
process.on("message", () => process.send(counts));
const attacks = Object.entries(ATTACKS);
for (let client = 0; client < CLIENTS; client++) {
  void (async () => {
    for (let at = client; ; at++) {
      const [name, attack] = attacks[at % attacks.length];
      counts[name] = (counts[name] ?? 0) + 1;
      const answer = await attack().catch(() => undefined);
      if (answer?.status === 429) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
}
