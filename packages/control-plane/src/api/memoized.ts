/**
 * Caches for pure functions. Callers cannot observe them, so modules may have them. All other state belongs in objects.
 */

/**
 * Computes once per object, and drops the result with the object. `compute` must depend only on the object, which must
 * never change.
 */
export function perObject<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = { value: compute(key) }));
    return found.value;
  };
}

/** Computes once per text. Drops the oldest result if there are more than `limit`. */
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

/** Keeps only the latest result, for arguments that repeat many times in a row. */
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
