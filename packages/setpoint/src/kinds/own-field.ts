/**
 * The value of a field that the record itself has. Where users choose the keys, one may be called `constructor` or
 * `__proto__`, which every object seems to have.
 */
export function ownField<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
