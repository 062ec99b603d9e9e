import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUnreadable, ObjectDecoder } from "../reflector/incoming.js";
import { Widget, widget } from "../reflector/scripted-api.testing.js";
import { Retention } from "../retention.js";
import { isSelectedBy, type ListSelection, termsOf } from "./selection.js";
import { Store } from "./store.js";

const reader = new ObjectDecoder(Widget, new Retention());

function read(object: Widget) {
  const incoming = reader.readObject(object);
  if (isUnreadable(incoming)) throw new Error(incoming.refused);
  return incoming;
}

/** Counts parsed objects. */
class CountingStore extends Store<Widget> {
  parses = 0;

  override parse(text: string, managedFields: string | undefined): Widget {
    this.parses++;
    return super.parse(text, managedFields);
  }
}

function select(store: Store<Widget>, selection: ListSelection): Widget[] {
  return store.select(selection.namespace, termsOf(selection)).map((slot) => store.read(slot));
}

const labels = fc.dictionary(fc.constantFrom("app", "tier", "n"), fc.constantFrom("", "web", "api", "1", "20"));
const operation = fc.record({
  do: fc.constantFrom("put", "put", "stage", "delete", "clear", "select", "select") as fc.Arbitrary<
    "put" | "stage" | "delete" | "clear" | "select"
  >,
  name: fc.integer({ min: 0, max: 15 }).map(String),
  namespace: fc.constantFrom("default", "other", "default2"),
  labels,
  node: fc.constantFrom(undefined, "", "node-1", "node-2"),
  selection: fc.record(
    {
      namespace: fc.constantFrom("default", "other", "none"),
      labelSelector: fc.constantFrom(
        "app=web",
        "app in (web, api), tier",
        "app!=web",
        "!tier",
        "tier notin (web),app",
        "n>5",
        "app=",
      ),
      fieldSelector: fc.constantFrom("spec.node=node-1", "spec.node!=node-1", "spec.node=", "metadata.name=3"),
    },
    { requiredKeys: [] },
  ),
});

describe("selection", () => {
  it("selects the same from the store as a match of every object, whatever was written meanwhile", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100 }), (operations) => {
        const store = new Store(Widget, { maxParsed: 3 });
        const model = new Map<string, Widget>();
        let revision = 0;
        for (const { do: what, name, namespace, labels, node, selection } of operations) {
          const key = `${namespace}/${name}`;
          const object = widget(name, ++revision, {
            namespace,
            labels,
            spec: node === undefined ? {} : { node },
          });
          if (what === "put" || what === "stage") {
            if (what === "put") store.put(read(object));
            else store.assign(key, store.keep(read(object)));
            model.set(key, object);
          } else if (what === "delete") {
            store.delete(key);
            model.delete(key);
          } else if (what === "clear") {
            store.clear();
            model.clear();
          } else {
            const terms = termsOf(selection);
            const expected = [...model.values()].filter(
              (each) =>
                (selection.namespace === undefined || each.metadata.namespace === selection.namespace) &&
                isSelectedBy(terms, each),
            );
            const byName = (a: Widget, b: Widget): number =>
              a.metadata.resourceVersion.localeCompare(b.metadata.resourceVersion);
            expect(select(store, selection).sort(byName)).toEqual(expected.sort(byName));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("parses matching objects only", () => {
    const store = new CountingStore(Widget, { maxParsed: 0 });
    for (let at = 0; at < 2000; at++) {
      store.put(read(widget(`w${at}`, at + 1, { labels: { shard: String(at) }, spec: { node: at } })));
    }
    store.parses = 0;
    expect(select(store, { namespace: "default", labelSelector: "shard=7" })).toHaveLength(1);
    expect(select(store, { labelSelector: "shard in (8,9)" })).toHaveLength(2);
    expect(select(store, { fieldSelector: "spec.node=7" })).toHaveLength(1);
    expect(select(store, { labelSelector: "!shard" })).toHaveLength(0);
    expect(store.parses).toBe(4);
  });

  it("reads matching objects only, once a field is indexed", () => {
    let looked = 0;
    class LookedAtStore extends Store<Widget> {
      override textOf(...given: Parameters<Store<Widget>["textOf"]>): string | undefined {
        looked++;
        return super.textOf(...given);
      }
    }
    const store = new LookedAtStore(Widget);
    for (let at = 0; at < 200; at++) store.put(read(widget(`w${at}`, at + 1, { spec: { node: at } })));
    select(store, { fieldSelector: "spec.node=7" });
    expect(looked).toBe(200);
    select(store, { fieldSelector: "spec.node=8" });
    expect(looked).toBe(200);
    store.put(read(widget("w8", 1000, { spec: { node: 9 } })));
    expect(looked).toBe(201);
    expect(select(store, { fieldSelector: "spec.node=9" })).toHaveLength(2);
  });

  it("names the wrong term of a selector", () => {
    expect(() => termsOf({ labelSelector: "a in b" })).toThrow(/LABEL_SELECTOR_INVALID|label selector/);
    expect(() => termsOf({ fieldSelector: "spec.node" })).toThrow(/understand 'spec.node'/);
  });
});
