/**
 * Pure functions that keep what they computed. Callers cannot tell, so this is no state of a module; all else that a module
 * would keep belongs into an object which somebody makes.
 */

/** Computes once for each object, and forgets with it. `compute` depends on the object alone, which never changes. */
export function perObject<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = { value: compute(key) }));
    return found.value;
  };
}

/** Computes once for each text; the oldest of more than `limit` is forgotten. */
export function perText<Value>(limit: number, compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, { readonly value: Value }>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = { value: compute(text) };
      if (known.size >= limit) known.delete(known.keys().next().value!);
      known.set(text, found);
    }
    return found.value;
  };
}

/** Keeps the latest result: for arguments that come many times in a row. */
export function latest<Key, Value>(
  compute: (key: Key) => Value,
  isSame: (a: Key, b: Key) => boolean = (a, b) => a === b,
): (key: Key) => Value {
  let known: { readonly key: Key; readonly value: Value } | undefined;
  return (key) => {
    if (known === undefined || !isSame(known.key, key)) known = { key, value: compute(key) };
    return known.value;
  };
}
