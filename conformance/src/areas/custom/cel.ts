import { systemClock } from "setpoint/clock";
import { area, type Case } from "../../case.js";
import type { Body, Reply, Session } from "../../session.js";
import { examples, faulty } from "./cel-examples.js";
import { crds, object, widget, widgetPath, widgets } from "./widgets.js";

const rule = (text: string, rest: object = {}): object => ({ rule: text, ...rest });
const ruled = (rules: readonly object[]): object => ({ "x-kubernetes-validations": rules });
const text = { type: "string", maxLength: 64 };
const count = { type: "integer" };

/** The problems that a server reports: the rest of the response does not matter. */
function verdict(s: Session, what: string, { status, body, headers }: Reply): void {
  const { message, reason, details } = (body ?? {}) as Body;
  const refusal = status >= 400 ? { message, reason, details } : {};
  // The real server checks fields in its own order.
  s.note(what, { status, warning: [headers.warning ?? []].flat().sort(), ...refusal });
}

/** Creates a CRD with this schema of `spec`, and tries writes. */
const withSchema =
  (spec: object, tries: (s: Session) => Promise<void>, extra: Parameters<typeof widgets>[2] = {}): Case["run"] =>
  async (s) => {
    await refused(spec, extra)(s);
    await s.crd(widgets(s, spec, extra));
    await tries(s);
  };

const create = async (s: Session, name: string, spec: unknown): Promise<void> =>
  verdict(s, `create ${name}`, await s.post(widgetPath(s), widget(s, name, spec), { silent: true }));
const merge = async (s: Session, name: string, patch: object): Promise<void> =>
  verdict(s, `patch ${name}`, await s.patch("merge", `${widgetPath(s)}/${name}`, patch, { silent: true }));

/** Only tries to create a CRD. */
const refused =
  (spec: object, extra: Parameters<typeof widgets>[2] = {}): Case["run"] =>
  async (s) =>
    verdict(s, "create", await s.post(`${crds}?dryRun=All`, widgets(s, spec, extra), { silent: true }));

export const ruleCases = area("cel rules", {
  "a broken rule with its message, reason and path": withSchema(
    object(
      { min: count, max: count, name: text },
      ruled([
        rule("self.min <= self.max"),
        rule("self.max < 100", { message: "too big", reason: "FieldValueForbidden", fieldPath: ".max" }),
        rule("self.name != ''", { messageExpression: "'no name for ' + string(self.min)" }),
        rule("self.min >= 0", { reason: "FieldValueRequired" }),
        rule("self.min != 7", { reason: "FieldValueDuplicate" }),
      ]),
    ),
    async (s) => {
      await create(s, "a", { min: 5, max: 3, name: "x" });
      await create(s, "b", { min: -1, max: 200, name: "" });
      await create(s, "c", { min: 7, max: 9, name: "x" });
      await create(s, "d", { min: 1, max: 2, name: "x" });
      await create(s, "e", { min: 1 });
    },
  ),
  "values, items and entries": withSchema(
    object({
      name: { ...text, ...ruled([rule("self.startsWith('v')")]) },
      list: { type: "array", maxItems: 9, items: { type: "integer", ...ruled([rule("self % 2 == 0")]) } },
      map: {
        type: "object",
        maxProperties: 9,
        additionalProperties: { type: "string", maxLength: 9, ...ruled([rule("self != 'bad'", { message: "bad!" })]) },
      },
    }),
    async (s) => {
      await create(s, "a", { name: "x" });
      await create(s, "b", { list: [1, 2, 3] });
      await create(s, "c", { map: { a: "bad" } });
      await create(s, "d", { name: "v", list: [2], map: { a: "good" } });
    },
  ),
  "names of the resource at its root": withSchema(
    object({}),
    async (s) => {
      await create(s, "single", {});
      await create(s, "other", {});
    },
    { schema: ruled([rule("self.metadata.name == 'single'"), rule("self.kind == 'Widget'")]) },
  ),
  "fields whose names CEL does not take": withSchema(
    object(
      { "with-dash": text, "with.dot": text, namespace: text, __under: text, "x/y": text },
      ruled([
        rule("self.with__dash__dash != 'a'"),
        rule("self.with__dot__dot != 'b'"),
        rule("self.__namespace__ != 'c'"),
        rule("self.__underscores__under != 'd'"),
        rule("self.x__slash__y != 'e'"),
        rule("self.namespace != 'c'"),
      ]),
    ),
    async (s) => {
      await create(s, "a", { "with-dash": "a", "with.dot": "b", namespace: "c", __under: "d", "x/y": "e" });
    },
  ),
  "formats are their own types": withSchema(
    object(
      {
        when: { type: "string", format: "date-time" },
        day: { type: "string", format: "date" },
        span: { type: "string", format: "duration" },
        data: { type: "string", format: "byte" },
      },
      ruled([
        rule("self.when > timestamp('2020-01-01T00:00:00Z')"),
        rule("self.day.getFullYear() == 2024"),
        rule("self.span < duration('1h')"),
        rule("self.data == b'hello'"),
      ]),
    ),
    async (s) => {
      await create(s, "a", { when: "2019-01-01T00:00:00Z", day: "2023-01-01", span: "2h", data: "aGk=" });
      await create(s, "b", { when: "2021-01-01T00:00:00Z", day: "2024-01-01", span: "30m", data: "aGVsbG8=" });
    },
  ),
  "an int or a string": withSchema(
    object(
      { x: { "x-kubernetes-int-or-string": true } },
      ruled([rule("type(self.x) == int ? self.x < 5 : self.x == '50%'")]),
    ),
    async (s) => {
      for (const [name, x] of Object.entries({ a: 4, b: 6, c: "50%", d: "60%" })) await create(s, name, { x });
    },
  ),
  "an int or a string, used as neither": withSchema(
    object(
      { x: { "x-kubernetes-int-or-string": true } },
      ruled([rule("self.x + 1 == 2"), rule("self.x.startsWith('a')")]),
    ),
    async (s) => {
      await create(s, "a", { x: 1 });
      await create(s, "b", { x: "a" });
    },
  ),
  "sets and list maps ignore their order": withSchema(
    object({
      set: {
        type: "array",
        maxItems: 9,
        "x-kubernetes-list-type": "set",
        items: text,
        ...ruled([rule("self == ['a', 'b']")]),
      },
      list: {
        type: "array",
        maxItems: 9,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: object({ k: text, v: count }, { required: ["k"] }),
        ...ruled([rule("self + self == self")]),
      },
    }),
    async (s) => {
      await create(s, "a", { set: ["b", "a"] });
      await create(s, "b", { set: ["b", "c"] });
      await create(s, "c", {
        list: [
          { k: "x", v: 1 },
          { k: "y", v: 2 },
        ],
      });
    },
  ),
  "an embedded resource has a name": withSchema(
    object({
      template: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
        ...ruled([rule("self.metadata.name == 'x' && self.kind == 'Pod'")]),
      },
    }),
    async (s) => {
      await create(s, "a", { template: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" } } });
      await create(s, "b", { template: { apiVersion: "v1", kind: "Pod", metadata: { name: "y" } } });
    },
  ),
  "nothing is checked of an object that is wrong already": withSchema(
    object({ n: count, m: text }, ruled([rule("self.n > 5")])),
    async (s) => {
      await create(s, "a", { n: "one" });
      await create(s, "b", { n: 1, m: "x".repeat(65) });
    },
  ),
  "a null counts as absent": withSchema(
    object({ a: { ...text, nullable: true } }, ruled([rule("!has(self.a) || self.a != 'x'")])),
    async (s) => {
      await create(s, "a", { a: null });
      await create(s, "b", { a: "x" });
    },
  ),
  "the status has rules too": withSchema(
    object({}),
    async (s) => {
      await create(s, "a", {});
      verdict(
        s,
        "status",
        await s.patch("merge", `${widgetPath(s)}/a/status`, { status: { ready: -1 } }, { silent: true }),
      );
    },
    {
      version: { subresources: { status: {} } },
      schema: {
        properties: { spec: object({}), status: object({ ready: count }, ruled([rule("self.ready >= 0")])) },
      },
    },
  ),
});

export const transitionCases = area("cel transitions", {
  "a value that cannot change": withSchema(
    object({ name: { ...text, ...ruled([rule("self == oldSelf", { message: "immutable" })]) }, other: text }),
    async (s) => {
      await create(s, "a", { name: "x" });
      await merge(s, "a", { spec: { name: "y" } });
      await merge(s, "a", { spec: { name: null } });
      await merge(s, "a", { spec: { name: "z" } });
    },
  ),
  "a count that only grows": withSchema(
    object({ n: count }, ruled([rule("self.n >= oldSelf.n", { messageExpression: "'was ' + string(oldSelf.n)" })])),
    async (s) => {
      await create(s, "a", { n: 3 });
      await merge(s, "a", { spec: { n: 2 } });
      await merge(s, "a", { spec: { n: 4 } });
    },
  ),
  "an optional old self is asked on create": withSchema(
    object({
      n: {
        type: "integer",
        ...ruled([rule("oldSelf.hasValue() ? self >= oldSelf.value() : self == 1", { optionalOldSelf: true })]),
      },
    }),
    async (s) => {
      await create(s, "a", { n: 3 });
      await create(s, "b", { n: 1 });
      await merge(s, "b", { spec: { n: 0 } });
      await merge(s, "b", { spec: { n: 5 } });
    },
  ),
  "items of a list map are told by their keys": withSchema(
    object({
      list: {
        type: "array",
        maxItems: 9,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: object({ k: text, v: count }, { required: ["k"], ...ruled([rule("self.v >= oldSelf.v")]) }),
      },
    }),
    async (s) => {
      await create(s, "a", {
        list: [
          { k: "x", v: 1 },
          { k: "y", v: 5 },
        ],
      });
      await merge(s, "a", {
        spec: {
          list: [
            { k: "y", v: 5 },
            { k: "x", v: 0 },
          ],
        },
      });
      await merge(s, "a", {
        spec: {
          list: [
            { k: "z", v: 0 },
            { k: "x", v: 1 },
          ],
        },
      });
    },
  ),
  "entries of a map are told by their names": withSchema(
    object({
      map: {
        type: "object",
        maxProperties: 9,
        additionalProperties: { type: "integer", ...ruled([rule("self >= oldSelf")]) },
      },
    }),
    async (s) => {
      await create(s, "a", { map: { x: 1, y: 2 } });
      await merge(s, "a", { spec: { map: { x: 0 } } });
      await merge(s, "a", { spec: { map: { z: 0 } } });
    },
  ),
  "what was broken and did not change is forgiven": async (s) => {
    await s.crd(widgets(s, object({ a: text, b: object({ c: count }) })));
    await create(s, "a", { a: "bad", b: { c: 1 } });
    const path = `${crds}/widgets.${s.group}`;
    const schema = object({
      a: { ...text, ...ruled([rule("self != 'bad'")]) },
      b: object({ c: count }, ruled([rule("self.c > 1")])),
    });
    await s.patch(
      "json",
      path,
      [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec", value: schema }],
      { silent: true },
    );
    for (let tries = 0; tries < 200; tries++) {
      const reply = await s.post(`${widgetPath(s)}?dryRun=All`, widget(s, "probe", { a: "bad" }), { silent: true });
      if (reply.status === 422) break;
      await systemClock.sleep(25);
    }
    await merge(s, "a", { metadata: { labels: { x: "y" } } });
    await merge(s, "a", { spec: { b: { c: 0 } } });
    await merge(s, "a", { spec: { a: "good" } });
    // A patch is tried on the cached object first, and the warnings of that attempt are reported as well.
    await s.until(
      `${widgetPath(s)}/a?resourceVersion=0`,
      ({ body }) => (body as { spec: { a: string } }).spec.a === "good",
    );
    await merge(s, "a", { spec: { a: "bad" } });
  },
  "old values in an atomic list are refused": refused(
    object({ list: { type: "array", maxItems: 3, items: { ...text, ...ruled([rule("self == oldSelf")]) } } }),
  ),
  "old values in a set are refused": refused(
    object({
      list: {
        type: "array",
        maxItems: 3,
        "x-kubernetes-list-type": "set",
        items: { ...text, ...ruled([rule("self == oldSelf")]) },
      },
    }),
  ),
  "an optional old self that nobody asks for": refused(
    object({ a: text }, ruled([rule("self.a != ''", { optionalOldSelf: true })])),
  ),
  "the object as it was applied": withSchema(
    object({ a: { ...text, ...ruled([rule("self == oldSelf")]) } }),
    async (s) => {
      const path = `${widgetPath(s)}/a?fieldManager=m`;
      verdict(s, "apply", await s.patch("apply", path, widget(s, "a", { a: "x" }), { silent: true }));
      verdict(s, "again", await s.patch("apply", path, widget(s, "a", { a: "y" }), { silent: true }));
    },
  ),
});

const unbounded = { type: "string" };
const listOf = (items: object, rest: object = {}): object => ({ type: "array", items, ...rest });

export const costCases = area("cel costs", {
  "nested loops over unbounded lists": refused(
    object({ l: listOf(unbounded) }, ruled([rule("self.l.all(x, self.l.all(y, x != y))")])),
  ),
  "the same over short lists of short texts": refused(
    object({ l: listOf(text, { maxItems: 10 }) }, ruled([rule("self.l.all(x, self.l.all(y, x != y))")])),
  ),
  "a little over the limit": refused(
    object({ l: listOf(text, { maxItems: 1300 }) }, ruled([rule("self.l.all(x, self.l.all(y, x != y))")])),
  ),
  "far over the limit, but countable": refused(
    object({ l: listOf(text, { maxItems: 5000 }) }, ruled([rule("self.l.all(x, self.l.all(y, x != y))")])),
  ),
  "a rule on every item of a long list": refused(
    object({ l: listOf({ ...unbounded, ...ruled([rule("self.matches('^[a-z]+$')")]) }) }),
  ),
  "a rule on every item of a bounded list": refused(
    object({ l: listOf({ ...text, ...ruled([rule("self.matches('^[a-z]+$')")]) }, { maxItems: 100 }) }),
  ),
  "a map in a list": refused(
    object({
      l: listOf(
        {
          type: "object",
          maxProperties: 20,
          additionalProperties: { ...text, ...ruled([rule("self.contains('abc')")]) },
        },
        { maxItems: 2000 },
      ),
    }),
  ),
  "many rules together": refused(
    object(
      { l: listOf(text, { maxItems: 1000 }) },
      ruled(Array.from({ length: 14 }, (_, index) => rule(`self.l.all(x, self.l.all(y, x != y || ${index} == 1))`))),
    ),
  ),
  "a message that costs too much": refused(
    object(
      { l: listOf(unbounded) },
      ruled([
        rule("self.l.size() > 0", { messageExpression: "self.l.map(x, self.l.map(y, x + y).join(',')).join(',')" }),
      ]),
    ),
  ),
  "a regular expression on long text": refused(
    object({ s: unbounded }, ruled([rule(`self.s.matches('${"(a|b)".repeat(30)}')`)])),
  ),
  "joined and split texts": refused(
    object({ l: listOf(text, { maxItems: 500 }) }, ruled([rule("self.l.join(',').split(',').all(x, x in self.l)")])),
  ),
  "an evaluation that would not end": withSchema(
    object(
      { l: listOf({ type: "integer" }, { maxItems: 200 }) },
      ruled([rule("self.l.all(a, self.l.all(b, a != b || a == b))")]),
    ),
    async (s) => {
      await create(s, "a", { l: Array.from({ length: 200 }, (_, index) => index) });
    },
  ),
  "an evaluation that is stopped": withSchema(
    object({ s: { type: "string", maxLength: 5 } }, ruled([rule("lists.range(2000000).size() > self.s.size()")])),
    async (s) => {
      await create(s, "a", { s: "a" });
    },
  ),
});

const EXAMPLE_FIELDS = { names: listOf(text, { maxItems: 9 }), unsorted: listOf(text, { maxItems: 9 }) };

/** The examples as rules of one CRD per library: one object shows which hold, and why others fail. */
const exampleCases: Readonly<Record<string, Case["run"]>> = Object.fromEntries(
  Object.entries(examples).map(([library, expressions]) => [
    `examples of ${library}`,
    withSchema(object(EXAMPLE_FIELDS, ruled(expressions.map((expression) => rule(expression)))), async (s) => {
      await create(s, "a", { names: ["a", "b", "c"], unsorted: ["b", "a", "b"] });
    }),
  ]),
);

export const libraryCases = area("cel libraries", {
  ...exampleCases,
  ...Object.fromEntries(
    faulty.map((expression) => [`refused: ${expression}`, refused(object({ text }, ruled([rule(expression)])))]),
  ),
  "rules that say nothing": refused(
    object(
      { text },
      ruled([rule(""), rule("true", { message: " " }), rule("true", { message: "a\nb" }), rule("true\n&& true")]),
    ),
  ),
  "reasons and paths that do not exist": refused(
    object(
      { text },
      ruled([
        rule("true", { reason: "Nonsense" }),
        rule("true", { fieldPath: ".nothing" }),
        rule("true", { fieldPath: "text" }),
      ]),
    ),
  ),
  "messages that are no text": refused(
    object(
      { text },
      ruled([rule("true", { messageExpression: "1" }), rule("true", { messageExpression: "self.nothing" })]),
    ),
  ),
});
