import type { Random } from "setpoint/clock";
import { NodeParser, type ReadRequest } from "./node-parser.testing.js";
import { PlainRequests } from "./plain-request.js";
import { RequestMutations } from "./request-mutations.testing.js";

export interface Agreement {
  /** The number of generated requests that were plain. */
  readonly plain: number;
  /** Those that Node reads differently. */
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly bytes: string;
  readonly plain: readonly ReadRequest[];
  readonly node: readonly (ReadRequest | string)[];
}

/** The plain requests at the start of one generated text. */
interface Taken {
  readonly bytes: Buffer;
  readonly requests: readonly ReadRequest[];
}

const BATCH = 200;
/** Shows where Node sees the end of the previous request. */
const SENTINEL: Taken = {
  bytes: Buffer.from("GET /sentinel HTTP/1.1\r\nhost: s\r\n\r\n"),
  requests: [{ method: "GET", target: "/sentinel", headers: { host: "s" }, body: "" }],
};

/** Generates `count` mutated requests; Node must read those that PlainRequests accepts to the same requests. */
export async function agreement(count: number, random: Random): Promise<Agreement> {
  const mutations = new RequestMutations(random);
  const requests = new PlainRequests();
  using node = new NodeParser();
  const differences: Difference[] = [];
  let plain = 0;
  for (let drawn = 0; drawn < count && differences.length < 10; drawn += BATCH) {
    const batch: Taken[] = [];
    for (let at = drawn; at < Math.min(count, drawn + BATCH); at++) {
      const taken = takePlain(requests, mutations.next());
      if (taken.requests.length > 0) batch.push(taken);
    }
    plain += batch.length;
    // One connection reads them all; only if that fails, each is tried separately.
    if ((await difference(node, batch)) === undefined) continue;
    const found = (await Promise.all(batch.map((taken) => separately(taken)))).filter((each) => each !== undefined);
    differences.push(...(found.length > 0 ? found : [(await difference(node, batch))!]));
  }
  return { plain, differences };
}

async function separately(taken: Taken): Promise<Difference | undefined> {
  using node = new NodeParser();
  return difference(node, [taken]);
}

/** All plain requests at the start of `bytes`, as a connection reads them one after the other. */
function takePlain(parser: PlainRequests, bytes: Buffer): Taken {
  const requests: ReadRequest[] = [];
  let end = 0;
  for (;;) {
    const request = parser.parse(bytes.subarray(end));
    if (request === undefined) return { bytes: bytes.subarray(0, end), requests };
    const { method, target, headers, body } = request;
    requests.push({ method, target, headers, body: Buffer.from(body).toString("latin1") });
    end += request.byteLength;
  }
}

async function difference(node: NodeParser, batch: readonly Taken[]): Promise<Difference | undefined> {
  const all = [...batch, SENTINEL];
  const bytes = Buffer.concat(all.map((taken) => taken.bytes));
  const expected = all.flatMap((taken) => taken.requests);
  const read = await node.read(bytes);
  const isSame = read.length === expected.length && expected.every((request, at) => isEqual(request, read[at]!));
  return isSame ? undefined : { bytes: bytes.toString("latin1"), plain: expected, node: read };
}

function isEqual(plain: ReadRequest, node: ReadRequest | string): boolean {
  if (typeof node === "string") return false;
  const names = Object.keys(plain.headers);
  return (
    plain.method === node.method &&
    plain.target === node.target &&
    plain.body === node.body &&
    names.length === Object.keys(node.headers).length &&
    names.every((name) => String(plain.headers[name]) === String(node.headers[name]))
  );
}
