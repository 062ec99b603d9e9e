/** The annotation of a webhook configuration that says who installed it. */
export const INSTALLED_BY = "setpoint.dev/installed-by";

/** This process, as the owner of webhooks that lead only to it. */
export function processOwner(): string {
  return `process ${process.pid} on ${process.getBuiltinModule("node:os").hostname()}`;
}

/**
 * Whether an owner may replace and delete what has this mark: it is its own mark, or that of a process of this machine
 * which ended without uninstalling it. An object without the mark has another owner.
 */
export function isOwn(mark: string | undefined, owner: string): boolean {
  if (mark === undefined || mark === owner) return mark === owner;
  const [former, here] = [mark, owner].map((each) => /^process (\d+) on (.*)$/s.exec(each));
  return former != null && here != null && former[2] === here[2] && !isAlive(Number(former[1]));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is alive, although we may not signal it.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
