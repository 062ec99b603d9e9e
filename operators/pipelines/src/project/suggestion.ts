/** The known names that are most similar to a name that was not found, the best first. */
export function suggestionsFor(name: string, known: Iterable<string>): readonly string[] {
  const wanted = name.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return [...new Set(known)]
    .filter((one) => Math.abs(one.length - wanted.length) <= limit)
    .map((one) => ({ one, distance: distance(wanted, one.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= limit)
    .sort((left, right) => left.distance - right.distance || (left.one < right.one ? -1 : 1))
    .slice(0, 3)
    .map(({ one }) => one);
}

/** `; did you mean orders?`, or an empty text. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const found = suggestionsFor(name, known);
  return found.length === 0 ? "" : `; did you mean ${found.join(" or ")}?`;
}

/** The edit distance: how many letters to add, remove, change or swap with their neighbour. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + same);
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1])
        best = Math.min(best, before[column - 2]! + 1);
      current.push(best);
    }
    [before, last] = [last, current];
  }
  return last[right.length]!;
}
