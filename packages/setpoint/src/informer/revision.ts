/**
 * The order of two resourceVersions of one kind: negative where `a` is older. Decimal numbers of any length compare by
 * value; undefined where either is something else, and no order is known.
 */
export function compareRevisions(a: string, b: string): number | undefined {
  if (!isRevision(a) || !isRevision(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

function isRevision(text: string): boolean {
  if (text.length === 0 || (text.length > 1 && text.charCodeAt(0) === 0x30)) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}
