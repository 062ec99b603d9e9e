/** A run of `size` equal lines, at `from` in the old text and `to` in the new one. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

interface Change {
  readonly isEqual: boolean;
  readonly old: readonly [start: number, end: number];
  readonly new: readonly [start: number, end: number];
}

const CONTEXT = 3;
/** In a text of this many lines, very frequent lines do not start a block. */
const LONG = 200;

/**
 * The difference of two texts as kube-apiserver's messages show it: unified, with three lines of context. Matches
 * lines by the longest common block, then before and after it, like difflib in Python and Go.
 */
export function unifiedDiff(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const groups = grouped(changesBetween(old, now));
  return groups.map((group) => shownGroup(group, old, now)).join("");
}

function shownGroup(group: readonly Change[], old: readonly string[], now: readonly string[]): string {
  const [first, last] = [group[0]!, group[group.length - 1]!];
  const lines = group.flatMap((change) =>
    change.isEqual
      ? old.slice(...change.old).map((line) => ` ${line}`)
      : [...old.slice(...change.old).map((line) => `-${line}`), ...now.slice(...change.new).map((line) => `+${line}`)],
  );
  const head = `@@ -${range(first.old[0], last.old[1])} +${range(first.new[0], last.new[1])} @@`;
  return [head, ...lines].map((line) => `${line}\n`).join("");
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

/** Groups changes with their context. Distant changes form separate groups. */
function grouped(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const [index, change] of changes.entries()) {
    const [isFirst, isLast] = [index === 0, index === changes.length - 1];
    const length = change.old[1] - change.old[0];
    if (!change.isEqual) group.push(change);
    else if (isFirst) group.push(tail(change));
    else if (isLast) group.push(head(change));
    else if (length > 2 * CONTEXT) {
      groups.push([...group, head(change)]);
      group = [tail(change)];
    } else group.push(change);
  }
  if (group.some((change) => !change.isEqual)) groups.push(group);
  return groups;
}

function head({ isEqual, old, new: now }: Change): Change {
  const cut = ([start, end]: readonly [number, number]): [number, number] => [start, Math.min(end, start + CONTEXT)];
  return { isEqual, old: cut(old), new: cut(now) };
}

function tail({ isEqual, old, new: now }: Change): Change {
  const cut = ([start, end]: readonly [number, number]): [number, number] => [Math.max(start, end - CONTEXT), end];
  return { isEqual, old: cut(old), new: cut(now) };
}

function changesBetween(old: readonly string[], now: readonly string[]): readonly Change[] {
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  for (const { from, to, size } of [...matchingBlocks(old, now), { from: old.length, to: now.length, size: 0 }]) {
    if (i < from || j < to) changes.push({ isEqual: false, old: [i, from], new: [j, to] });
    [i, j] = [from + size, to + size];
    if (size > 0) changes.push({ isEqual: true, old: [from, i], new: [to, j] });
  }
  return changes;
}

function matchingBlocks(old: readonly string[], now: readonly string[]): readonly Block[] {
  const places = placesOf(now);
  const blocks: Block[] = [];
  const between = (fromStart: number, fromEnd: number, toStart: number, toEnd: number): void => {
    const { from, to, size } = longestBlock(old, now, places, fromStart, fromEnd, toStart, toEnd);
    if (size === 0) return;
    if (fromStart < from && toStart < to) between(fromStart, from, toStart, to);
    const last = blocks[blocks.length - 1];
    if (last !== undefined && last.from + last.size === from && last.to + last.size === to) {
      blocks[blocks.length - 1] = { ...last, size: last.size + size };
    } else blocks.push({ from, to, size });
    if (from + size < fromEnd && to + size < toEnd) between(from + size, fromEnd, to + size, toEnd);
  };
  between(0, old.length, 0, now.length);
  return blocks;
}

/** The positions of each line, without very frequent lines. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  }
  if (lines.length < LONG) return places;
  const most = Math.floor(lines.length / 100) + 1;
  return new Map([...places].filter(([, found]) => found.length <= most));
}

function longestBlock(
  old: readonly string[],
  now: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  fromStart: number,
  fromEnd: number,
  toStart: number,
  toEnd: number,
): Block {
  let [from, to, size] = [fromStart, toStart, 0];
  let lengths = new Map<number, number>();
  for (let i = fromStart; i < fromEnd; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(old[i]!) ?? []) {
      if (j < toStart || j >= toEnd) continue;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) [from, to, size] = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  while (from > fromStart && to > toStart && old[from - 1] === now[to - 1])
    [from, to, size] = [from - 1, to - 1, size + 1];
  while (from + size < fromEnd && to + size < toEnd && old[from + size] === now[to + size]) size++;
  return { from, to, size };
}
