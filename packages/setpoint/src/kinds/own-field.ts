/**
 * An own property of a record. Where users choose the keys, one may be `constructor` or `__proto__`, which every object
 * inherits.
 */
export function ownField<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
