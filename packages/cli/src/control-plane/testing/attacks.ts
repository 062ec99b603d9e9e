import { IMPERSONATED } from "./attack-preparation.js";
import type { Attacker, HostileAnswer, HostileRequest } from "./attacker.js";
import * as bodies from "./hostile-bodies.js";

/** One way to harm the server over its socket. */
export interface Attack {
  /** The finding of the audit that it repeats. */
  readonly row: string;
  readonly name: string;
  /** Resolves to what the server should not have done; to undefined where it held. Rejects where it hung up. */
  run(attacker: Attacker): Promise<string | undefined>;
}

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const YAML = "application/yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";
/** The server says no more than this about one request. */
const MOST_CHARACTERS = 1_000_000;

const mapsOf = ({ server }: Attacker): string => `/api/v1/namespaces/${server.namespace}/configmaps`;
const podsOf = ({ server }: Attacker): string => `/api/v1/namespaces/${server.namespace}/pods`;
const widgetsOf = ({ server }: Attacker): string =>
  `/apis/attack.example.com/v1/namespaces/${server.namespace}/widgets`;

/** What is wrong with an answer, unless it is one of these. Whoever asks too often is told so. */
function unless(answer: HostileAnswer, ...statuses: readonly number[]): string | undefined {
  if (answer.status >= 400 && answer.text.length > MOST_CHARACTERS)
    return `${answer.status} with ${answer.text.length} characters`;
  if ([429, 504, ...statuses].includes(answer.status)) return undefined;
  return `answered ${answer.status}: ${answer.text.slice(0, 300)}`;
}

/** A body that is refused, or taken, and neither ends nor fills the server. */
function body(
  row: string,
  name: string,
  target: (attacker: Attacker) => string,
  request: (attacker: Attacker) => HostileRequest,
  ...statuses: readonly number[]
): Attack {
  const run = async (attacker: Attacker) =>
    unless(await attacker.send("POST", target(attacker), request(attacker)), ...statuses);
  return { row, name, run };
}

const asEditor = (text: string | object, type?: string) => (): HostileRequest => ({
  user: "editor",
  body: text,
  ...(type !== undefined && { type }),
});

const dry = (path: (attacker: Attacker) => string, query = "") => {
  return (attacker: Attacker): string => `${path(attacker)}?dryRun=All${query}`;
};

/** All of them. Of those whose cost grows with their body, `size` says how large that is: 1 is what the audit sent. */
export const attacks = (size = 1): readonly Attack[] => [
  { row: "0", name: "a circle of owners", run: circle },
  { row: "1", name: "an apply that creates", run: createByPatch },
  { row: "1", name: "a PUT that creates", run: createByPut },
  { row: "2", name: "metadata by a subresource", run: metadataBySubresource },
  {
    row: "3",
    name: "bad characters of a field manager",
    run: async (attacker) => {
      const target = (count: number) => `${REVIEWS}?fieldManager=${"%01".repeat(count)}`;
      const review = { user: "zero", body: { spec: {} } } as const;
      const plain = unless(await attacker.send("POST", target(2_000), review), 422);
      return plain ?? unless(await attacker.sendHttp2(target(20_000), review), 422);
    },
  },
  body(
    "4",
    "YAML aliases",
    () => REVIEWS,
    () => ({ user: "zero", body: bodies.aliases(2_970_000 * size), type: YAML }),
    400,
  ),
  { row: "5", name: "a set of two billion pods", run: hugeSet },
  body("6", "owners that all control", mapsOf, asEditor(bodies.owners(8_000 * size)), 422),
  body("7a", "duplicate and unknown fields", dry(mapsOf), asEditor(bodies.duplicates(1_190_000 * size)), 201),
  body(
    "7b",
    "YAML duplicates at depth",
    () => REVIEWS,
    () => ({ user: "zero", body: bodies.deepYaml(300_000 * size), type: YAML }),
    400,
  ),
  body(
    "7c",
    "YAML anchors and aliases",
    () => REVIEWS,
    () => ({ user: "zero", body: bodies.anchors(491_000 * size), type: YAML }),
    400,
    422,
  ),
  body("7d", "JSON duplicates at depth", dry(mapsOf), asEditor(bodies.deepDuplicates(2_400_000 * size)), 201),
  { row: "7e", name: "a list map of 16,000 conditions", run: (attacker) => conditions(attacker, 16_000 * size) },
  { row: "8", name: "900 streams of bodies from nobody", run: streams },
  { row: "8", name: "a large body from somebody", run: (attacker) => largeBody(attacker, 2_900_000 * size) },
  { row: "9", name: "a bomb of SPDY headers", run: headerBomb },
  { row: "13", name: "a watch under a list's impersonation", run: impersonatedWatch },
  {
    row: "14",
    name: "HTTP/2.0 over HTTP/1",
    run: async (attacker) => {
      const answer = await attacker.raw("GET /healthz HTTP/2.0\r\nhost: a\r\n\r\n");
      return /^(HTTP\/1\.1 (505|400) |$)/.test(answer) ? undefined : `answered ${answer.slice(0, 200)}`;
    },
  },
  {
    row: "15",
    name: "an idle connection of HTTP/2",
    run: async (attacker) => {
      await attacker.idle();
      return attacker.overdue > 0 ? `${attacker.overdue} idle connections of HTTP/2 are still open` : undefined;
    },
  },
  { row: "16", name: "keys at a foreign host", run: foreignHost },
  body(
    "17",
    "a Pod of protobuf without containers",
    podsOf,
    () => ({ user: "editor", body: bodies.bareProtobufPod(), type: PROTOBUF }),
    403,
    422,
  ),
  { row: "17", name: "an object nested 990 deep", run: deepObject },
  {
    row: "",
    name: "all of its own deleted",
    run: async (attacker) => {
      for (const path of [mapsOf(attacker), widgetsOf(attacker)]) {
        const wrong = unless(await attacker.send("DELETE", path, { user: "editor" }), 200);
        if (wrong !== undefined) return wrong;
      }
      const sets = `/apis/apps/v1/namespaces/${attacker.server.namespace}/statefulsets`;
      return unless(await attacker.send("DELETE", sets, { user: "editor" }), 200);
    },
  },
];

async function circle(attacker: Attacker): Promise<string | undefined> {
  const maps = mapsOf(attacker);
  const names = ["a", "b", "c"].map((letter) => `circle-${letter}-${attacker.next()}`);
  const uids: string[] = [];
  for (const name of names) {
    const made = await attacker.send("POST", maps, { user: "editor", body: { metadata: { name } } });
    if (made.status !== 201) return unless(made, 403, 201);
    uids.push((JSON.parse(made.text) as { metadata: { uid: string } }).metadata.uid);
  }
  for (const [at, name] of names.entries()) {
    const next = (at + 1) % 3;
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: names[next], uid: uids[next], blockOwnerDeletion: true };
    const patch = { user: "editor", type: MERGE, body: { metadata: { ownerReferences: [owner] } } } as const;
    const wrong = unless(await attacker.send("PATCH", `${maps}/${name}`, patch), 200, 404);
    if (wrong !== undefined) return wrong;
  }
  const options = { user: "editor", body: { propagationPolicy: "Foreground" } } as const;
  return unless(await attacker.send("DELETE", `${maps}/${names[0]}`, options), 200, 404);
}

async function createByPatch(attacker: Attacker): Promise<string | undefined> {
  const name = `stolen-${attacker.next()}`;
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
  const target = `${mapsOf(attacker)}/${name}?fieldManager=a&force=true`;
  return unless(await attacker.send("PATCH", target, { user: "patcher", body: object, type: APPLY }), 403);
}

async function createByPut(attacker: Attacker): Promise<string | undefined> {
  const name = `stolen-${attacker.next()}`;
  const target = `/api/v1/namespaces/${attacker.server.namespace}/endpoints/${name}`;
  return unless(await attacker.send("PUT", target, { user: "patcher", body: { metadata: { name } } }), 403);
}

async function metadataBySubresource(attacker: Attacker): Promise<string | undefined> {
  const name = `kept-${attacker.next()}`;
  const pod = `${podsOf(attacker)}/${name}`;
  const metadata = { name, finalizers: ["example.com/kept"] };
  const spec = { containers: [{ name: "main", image: "x" }] };
  const made = await attacker.send("POST", podsOf(attacker), { user: "editor", body: { metadata, spec } });
  if (made.status !== 201) return unless(made, 403);
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "no-such-object" };
  const hostile = {
    user: "patcher",
    type: MERGE,
    body: { metadata: { finalizers: [], ownerReferences: [owner] } },
  } as const;
  try {
    for (const part of ["ephemeralcontainers", "resize"]) {
      // A pod that has a node by then cannot be resized: simulated nodes do not say that they can.
      const wrong = unless(await attacker.send("PATCH", `${pod}/${part}`, hostile), 200, 422);
      if (wrong !== undefined) return wrong;
    }
    const { status, text } = await attacker.send("GET", pod, { user: "editor" });
    if (status !== 200) return unless({ status, text }, 200);
    const kept = (JSON.parse(text) as { metadata: { finalizers?: string[]; ownerReferences?: object[] } }).metadata;
    if (kept.finalizers?.length !== 1 || kept.ownerReferences) return `the pod's metadata is ${JSON.stringify(kept)}`;
    const label = { user: "editor", type: MERGE, body: { metadata: { labels: { a: "b" } } } } as const;
    return unless(await attacker.send("PATCH", pod, label), 200);
  } finally {
    await attacker.send("PATCH", pod, { user: "editor", type: MERGE, body: { metadata: { finalizers: null } } });
    await attacker.send("DELETE", `${pod}?gracePeriodSeconds=0`, { user: "editor" });
  }
}

async function hugeSet(attacker: Attacker): Promise<string | undefined> {
  const target = `/apis/apps/v1/namespaces/${attacker.server.namespace}/statefulsets`;
  return unless(await attacker.send("POST", target, { user: "editor", body: bodies.hugeSet() }), 201);
}

async function conditions(attacker: Attacker, count: number): Promise<string | undefined> {
  const name = `conditions-${attacker.next() % 2}`;
  const target = `${widgetsOf(attacker)}/${name}`;
  const made = await attacker.send("POST", widgetsOf(attacker), {
    user: "editor",
    body: bodies.widget(name, count, "a"),
  });
  const wrong = unless(made, 201, 409, 404);
  if (wrong !== undefined) return wrong;
  const changed = { user: "editor", type: MERGE, body: bodies.widget(name, count, "b") } as const;
  return unless(await attacker.send("PATCH", `${target}?dryRun=All`, changed), 200, 404);
}

/** Bodies of nobody, on nearly as many streams as a connection may have. */
async function streams(attacker: Attacker): Promise<undefined> {
  const session = await attacker.session();
  const closed = new Promise<void>((resolve) => session.on("close", () => resolve()));
  const part = Buffer.alloc(2 ** 20, "x");
  for (let count = 0; count < 900; count++) {
    const stream = session.request({
      ":method": "POST",
      ":path": mapsOf(attacker),
      "content-type": "application/json",
    });
    stream.on("error", () => {});
    for (let megabyte = 0; megabyte < 3; megabyte++) stream.write(part);
    stream.resume();
  }
  setTimeout(() => session.destroy(), 1_000);
  await closed;
}

async function largeBody(attacker: Attacker, bytes: number): Promise<string | undefined> {
  const large = { metadata: { generateName: "large-" }, data: { x: "x".repeat(bytes) } };
  return unless(await attacker.send("POST", mapsOf(attacker), { user: "editor", body: large }), 201, 403, 422);
}

async function headerBomb(attacker: Attacker): Promise<string | undefined> {
  const spec = { containers: [{ name: "main", image: "x" }] };
  const pod = { user: "editor", body: { metadata: { name: "shell" }, spec } } as const;
  const made = unless(await attacker.send("POST", podsOf(attacker), pod), 201, 409, 403);
  if (made !== undefined) return made;
  for (let tries = 0; tries < 30; tries++) {
    const { text } = await attacker.send("GET", `${podsOf(attacker)}/shell`, { user: "editor" });
    if (text.includes('"phase":"Running"')) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const path = `${podsOf(attacker)}/shell/exec?command=cat&stdin=true&stdout=true`;
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\n${attacker.authorization("editor")}`;
  const upgrade = "connection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n\r\n";
  const answer = await attacker.raw(head + upgrade, { after: /^HTTP\/1\.1 101 /, bytes: bodies.headerBomb() });
  return /^HTTP\/1\.1 (101|4\d\d|500) |^$/.test(answer) ? undefined : `answered ${answer.slice(0, 200)}`;
}

async function impersonatedWatch(attacker: Attacker): Promise<string | undefined> {
  const as = { user: "patcher", headers: { "impersonate-user": IMPERSONATED } } as const;
  const pods = podsOf(attacker);
  const listed = unless(await attacker.send("GET", `${pods}?limit=1`, as), 200);
  if (listed !== undefined) return `a list that is allowed: ${listed}`;
  const watch = `${pods.replace("/api/v1/", "/api/v1/watch/")}?timeoutSeconds=1`;
  return unless(await attacker.send("GET", watch, as), 403);
}

async function foreignHost(attacker: Attacker): Promise<string | undefined> {
  const headers = { host: "evil.example.com" };
  const answer = await attacker.send("GET", "/.well-known/openid-configuration", { user: "editor", headers });
  return answer.text.includes("evil") ? `it tells of ${answer.text.slice(0, 200)}` : unless(answer, 200, 403);
}

async function deepObject(attacker: Attacker): Promise<string | undefined> {
  const widgets = widgetsOf(attacker);
  const made = unless(
    await attacker.send("POST", widgets, { user: "editor", body: bodies.deepWidget() }),
    201,
    409,
    404,
  );
  if (made !== undefined) return made;
  const list = await attacker.send("GET", `${widgets}?limit=10`, { user: "editor", headers: { accept: YAML } });
  return unless(list, 200, 404);
}
