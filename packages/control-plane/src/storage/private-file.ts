import { chmodSync, closeSync, constants, lstatSync, openSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { SetpointError } from "setpoint";
import { type Random, systemRandom } from "setpoint/clock";

/** Only the owner may read and write. */
const PRIVATE = 0o600;
const NAME_BYTES = 12;

/**
 * Writes a file that only this user can read, from its first byte on, and that is never half written. The content
 * goes to a new file with an unguessable name, which then replaces `path`. So another user who may write to the
 * folder can neither redirect the write through a link nor keep the file open.
 */
export async function writePrivateFile(
  path: string,
  content: string | Iterable<string>,
  random: Random = systemRandom,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${Buffer.from(random.bytes(NAME_BYTES)).toString("hex")}.new`;
  // "x" fails if the file exists, even as a link.
  const file = await open(made, "wx", PRIVATE);
  try {
    try {
      // The umask can only take rights away from the mode given to `open`.
      for (const part of typeof content === "string" ? [content] : content) await file.write(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(made, path);
  } catch (error) {
    await rm(made, { force: true });
    throw error;
  }
}

/** Makes a file private before another program writes it; creates it empty if missing. Throws for a link. */
export function makePrivate(path: string): void {
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  closeSync(openSync(path, flags, PRIVATE));
  tightenMode(path);
}

/** Removes the rights of other users from a file, if it exists. Throws for a link. */
export function tightenMode(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isSymbolicLink()) throw new SetpointError("FILE_IS_LINK", `${path} is a link`);
  if (isOpen(found.mode)) chmodSync(path, PRIVATE);
}

/** Whether the mode grants group or others any right. */
export function isOpen(mode: number): boolean {
  return process.platform !== "win32" && (mode & 0o077) !== 0;
}
