import type { Json } from "../api/json.js";

export interface CountedValue<Value> {
  readonly value: Value;
  /** How often a field, an item or the keys of anything in the value were read so far. */
  readonly reads: () => number;
}

/**
 * A value that counts its reads: the work of a decoder or validator on its input, in a unit that is the same on every
 * machine.
 */
export function countedValue<Value extends Json>(value: Value): CountedValue<Value> {
  let reads = 0;
  const wrapped = new WeakMap<object, object>();
  const wrap = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part;
    let proxy = wrapped.get(part);
    if (proxy === undefined) {
      proxy = new Proxy(part, {
        get(target, key, receiver) {
          reads++;
          return wrap(Reflect.get(target, key, receiver));
        },
        has(target, key) {
          reads++;
          return Reflect.has(target, key);
        },
        ownKeys(target) {
          const keys = Reflect.ownKeys(target);
          reads += keys.length;
          return keys;
        },
        getOwnPropertyDescriptor(target, key) {
          reads++;
          const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
          return descriptor && "value" in descriptor ? { ...descriptor, value: wrap(descriptor.value) } : descriptor;
        },
      });
      wrapped.set(part, proxy);
    }
    return proxy;
  };
  return { value: wrap(value) as Value, reads: () => reads };
}
