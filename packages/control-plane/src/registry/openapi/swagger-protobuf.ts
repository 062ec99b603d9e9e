/** The messages of gnostic's `OpenAPIv2.proto` that Kubernetes documents use: fields by number and type. */
type Field = readonly [number: number, encode: Encoder];
type Encoder = (value: unknown) => Uint8Array | readonly Uint8Array[] | undefined;
type Message = Readonly<Record<string, Field>>;

const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;

const text: Encoder = (value) => Buffer.from(String(value));
const texts: Encoder = (value) => (value as readonly string[]).map((each) => Buffer.from(each));
/** A value of any type is encoded as YAML. JSON is valid YAML. */
const any: Encoder = (value) => tagged(2, BYTES, Buffer.from(JSON.stringify(value)));
const anyOfThem: Encoder = (value) => (value as readonly unknown[]).map((each) => any(each) as Uint8Array);

const message =
  (fields: () => Message, vendorField: number): Encoder =>
  (value) =>
    encodeMessage(value as object, fields(), vendorField);
const messages =
  (encode: Encoder): Encoder =>
  (value) =>
    (value as readonly unknown[]).map((each) => encode(each) as Uint8Array);
/** A map is a message of named values, in order. */
const map =
  (encode: Encoder, field = 1): Encoder =>
  (value) =>
    Buffer.concat(
      Object.entries(value as object).map(([name, each]) => tagged(field, BYTES, named(name, encode, each))),
    );
/** One alternative of a `oneof`. */
const wrapped =
  (field: number, encode: Encoder): Encoder =>
  (value) =>
    tagged(field, BYTES, encode(value) as Uint8Array);

const schema: Encoder = message(() => SCHEMA, 31);
const operation: Encoder = message(() => OPERATION, 13);

const LIMITS = (maximum: number): Message => ({
  maximum: [maximum, double],
  exclusiveMaximum: [maximum + 1, flag],
  minimum: [maximum + 2, double],
  exclusiveMinimum: [maximum + 3, flag],
  maxLength: [maximum + 4, integer],
  minLength: [maximum + 5, integer],
  pattern: [maximum + 6, text],
  maxItems: [maximum + 7, integer],
  minItems: [maximum + 8, integer],
  uniqueItems: [maximum + 9, flag],
});

const SCHEMA: Message = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  default: [5, any],
  multipleOf: [6, double],
  ...LIMITS(7),
  maxProperties: [17, integer],
  minProperties: [18, integer],
  required: [19, texts],
  enum: [20, anyOfThem],
  additionalProperties: [
    21,
    (value) => (typeof value === "boolean" ? tagged(2, VARINT, varint(value ? 1 : 0)) : wrapped(1, schema)(value)),
  ],
  type: [22, (value) => tagged(1, BYTES, Buffer.from(String(value)))],
  items: [23, wrapped(1, schema)],
  properties: [25, map(schema)],
  discriminator: [26, text],
  readOnly: [27, flag],
  example: [30, any],
};

const QUERY_PARAMETER: Message = {
  required: [1, flag],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [6, text],
  format: [7, text],
  uniqueItems: [20, flag],
};
const PATH_PARAMETER: Message = { ...QUERY_PARAMETER, type: [5, text], format: [6, text], uniqueItems: [19, flag] };
const BODY_PARAMETER: Message = {
  description: [1, text],
  name: [2, text],
  in: [3, text],
  required: [4, flag],
  schema: [5, schema],
};

const parameter: Encoder = (value) => {
  const place = (value as { readonly in: string }).in;
  if (place === "body") return tagged(1, BYTES, encodeMessage(value as object, BODY_PARAMETER, 6));
  const isPath = place === "path";
  const encoded = encodeMessage(value as object, isPath ? PATH_PARAMETER : QUERY_PARAMETER, isPath ? 22 : 23);
  return tagged(2, BYTES, tagged(isPath ? 4 : 3, BYTES, encoded));
};

const parameterItem: Encoder = (value) =>
  (value as { readonly $ref?: string }).$ref === undefined
    ? wrapped(1, parameter)(value)
    : tagged(2, BYTES, encodeMessage(value as object, { $ref: [1, text] }, 0));

const RESPONSE: Message = { description: [1, text], schema: [2, wrapped(1, schema)] };

const OPERATION: Message = {
  tags: [1, texts],
  summary: [2, text],
  description: [3, text],
  operationId: [5, text],
  produces: [6, texts],
  consumes: [7, texts],
  parameters: [8, messages(parameterItem)],
  responses: [
    9,
    map(
      wrapped(
        1,
        message(() => RESPONSE, 5),
      ),
    ),
  ],
  schemes: [10, texts],
};

const PATH_ITEM: Message = {
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  options: [6, operation],
  head: [7, operation],
  patch: [8, operation],
  parameters: [9, messages(parameterItem)],
};

const API_KEY: Message = { type: [1, text], name: [2, text], in: [3, text], description: [4, text] };

const DOCUMENT: Message = {
  swagger: [1, text],
  info: [2, message(() => ({ title: [1, text], version: [2, text] }), 7)],
  paths: [
    8,
    map(
      message(() => PATH_ITEM, 10),
      2,
    ),
  ],
  definitions: [9, map(schema)],
  parameters: [10, map(parameter)],
  security: [
    12,
    messages(map((scopes) => Buffer.concat((scopes as string[]).map((each) => tagged(1, BYTES, Buffer.from(each)))))),
  ],
  securityDefinitions: [
    13,
    map(
      wrapped(
        2,
        message(() => API_KEY, 5),
      ),
    ),
  ],
};

/** Encodes an OpenAPI v2 document in the protobuf format that Go's discovery client requests. */
export function encodeSwagger(document: object): Uint8Array {
  return encodeMessage(document, DOCUMENT, 16);
}

function encodeMessage(value: object, fields: Message, vendorField: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field !== undefined) {
      const [number, encode] = field;
      const encoded = encode(part);
      const type = encode === flag || encode === integer ? VARINT : encode === double ? DOUBLE : BYTES;
      if (encoded instanceof Uint8Array) pieces.push(tagged(number, type, encoded));
      else for (const each of encoded ?? []) pieces.push(tagged(number, type, each));
    } else if (vendorField > 0 && key.startsWith("x-")) {
      pieces.push(tagged(vendorField, BYTES, named(key, any, part)));
    }
  }
  return Buffer.concat(pieces);
}

function named(name: string, encode: Encoder, value: unknown): Uint8Array {
  return Buffer.concat([tagged(1, BYTES, Buffer.from(name)), tagged(2, BYTES, encode(value) as Uint8Array)]);
}

function tagged(number: number, type: number, bytes: Uint8Array): Uint8Array {
  const tag = varint((number << 3) | type);
  return type === BYTES ? Buffer.concat([tag, varint(bytes.length), bytes]) : Buffer.concat([tag, bytes]);
}

function flag(value: unknown): Uint8Array {
  return varint(value === true ? 1 : 0);
}

function integer(value: unknown): Uint8Array {
  return varint(Number(value));
}

function double(value: unknown): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(Number(value));
  return bytes;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
  do {
    const more = rest >> 7n;
    bytes.push(Number(rest & 0x7fn) | (more === 0n ? 0 : 0x80));
    rest = more;
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}
