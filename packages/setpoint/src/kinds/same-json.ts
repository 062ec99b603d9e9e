/**
 * Whether two values are the same JSON, whatever the order of their fields; a field that is undefined is not one that is
 * left out. Written here, since `node:util` takes longer to load than all of the kinds.
 */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key as never], right[key as never]))
  );
}
