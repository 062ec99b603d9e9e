import { chmodSync, closeSync, constants, lstatSync, openSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { SetpointError } from "setpoint";
import { type Random, systemRandom } from "setpoint/clock";

/** Read and written by this user alone. */
const PRIVATE = 0o600;
const NAME_BYTES = 12;

/**
 * Writes a file that this user alone can read from its first byte, and that is never half there. It is made under a name
 * that nobody can guess, where there was none, and then takes the place of `path`: whoever else may write the folder can
 * neither have it written through a link nor keep it open.
 */
export async function writePrivateFile(
  path: string,
  content: string | Iterable<string>,
  random: Random = systemRandom,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${Buffer.from(random.bytes(NAME_BYTES)).toString("hex")}.new`;
  // "x": it must not be there, and a link counts as being there.
  const file = await open(made, "wx", PRIVATE);
  try {
    try {
      // The mode of `open` is subject to the umask, which can only take away.
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

/** Makes a file private that another program is to write: where there is none, an empty one. Throws for a link. */
export function makePrivate(path: string): void {
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  closeSync(openSync(path, flags, PRIVATE));
  tightenMode(path);
}

/** Takes the rights of others off a file, where it is there. Throws for a link. */
export function tightenMode(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isSymbolicLink()) throw new SetpointError("FILE_IS_LINK", `${path} is a link`);
  if (isOpen(found.mode)) chmodSync(path, PRIVATE);
}

/** Whether others than the owner have any right. */
export function isOpen(mode: number): boolean {
  return process.platform !== "win32" && (mode & 0o077) !== 0;
}
