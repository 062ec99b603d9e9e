/**
 * Whether two values are the same JSON, regardless of the order of fields. An undefined field differs from an absent
 * one. Implemented here, because `node:util` takes longer to load than all of the kinds.
 */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) if (!isSameJson(left[index], right[index])) return false;
    return true;
  }
  if (Array.isArray(right)) return false;
  let fields = 0;
  for (const key in left) {
    if (!Object.hasOwn(right, key) || !isSameJson(left[key as never], right[key as never])) return false;
    fields++;
  }
  for (const _ in right) fields--;
  return fields === 0;
}
