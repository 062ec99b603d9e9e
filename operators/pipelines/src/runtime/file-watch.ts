import { type FSWatcher, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Clock, Timer } from "setpoint/clock";

export interface FileWatchOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** Called with the changed paths, relative to the folder. Calls never overlap. */
  readonly onChange: (paths: readonly string[]) => Promise<void>;
  readonly onError?: (error: unknown) => void;
  /** How long nothing must change before the watch reports changes. */
  readonly quietMs?: number;
  /** Poll interval, for file systems without notifications. */
  readonly pollMs?: number;
}

/** Folders without project files. They change often, so the watch ignores them. */
const IGNORED = new Set([".setpoint", ".git", "node_modules"]);

const QUIET_MS = 100;
/** The watch reports changes after this time even if more keep coming. */
const PATIENCE_MS = 1_000;
const POLL_MS = 2_000;

/** Modification time, size and inode of a file: shows a change without reading the file. */
type Trace = string;

/**
 * Reports which files below a folder have changed. A notification of the operating system only triggers a scan; the
 * difference between two scans counts. A regular scan covers file systems without notifications.
 */
export class FileWatch implements AsyncDisposable {
  readonly #options: FileWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #traces = new Map<string, Trace>();
  #timer: Timer | undefined;
  #poll: Timer | undefined;
  #since: number | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  /** Resolves when the first scan is done: later changes are reported. */
  static async open(options: FileWatchOptions): Promise<FileWatch> {
    const opened = new FileWatch(options);
    await opened.#differences();
    opened.#armPoll();
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    this.#poll?.[Symbol.dispose]();
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#looking;
  }

  #armPoll(): void {
    if (this.#isClosed) return;
    this.#poll = this.#options.clock.timer(this.#options.pollMs ?? POLL_MS, () => {
      void this.#look().finally(() => this.#armPoll());
    });
  }

  #noticed(): void {
    if (this.#isClosed) return;
    const { clock, quietMs = QUIET_MS } = this.#options;
    this.#since ??= clock.monotonic();
    const patienceMs = this.#since + PATIENCE_MS - clock.monotonic();
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.timer(Math.max(0, Math.min(quietMs, patienceMs)), () => void this.#look());
  }

  async #look(): Promise<void> {
    while (this.#looking) await this.#looking;
    if (this.#isClosed) return;
    this.#since = undefined;
    this.#looking = this.#tell().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #tell(): Promise<void> {
    try {
      const changed = await this.#differences();
      if (changed.length > 0 && !this.#isClosed) await this.#options.onChange(changed);
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  /** Scans all files. Returns those that are new, gone or different since the last scan. */
  async #differences(): Promise<readonly string[]> {
    const seen = new Set<string>();
    const changed: string[] = [];
    const folders = [this.#options.folder];
    for (const folder of folders) {
      this.#watch(folder);
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      await Promise.all(
        entries.map(async (entry) => {
          const path = join(folder, entry.name);
          if (IGNORED.has(entry.name)) return;
          const facts = await stat(path, { bigint: true }).catch(() => undefined);
          if (!facts) return;
          if (facts.isDirectory()) {
            // Do not follow links to folders: a link may lead back up.
            if (!entry.isSymbolicLink()) folders.push(path);
            return;
          }
          seen.add(path);
          const trace = `${facts.mtimeNs} ${facts.size} ${facts.ino}`;
          if (this.#traces.get(path) !== trace) changed.push(path);
          this.#traces.set(path, trace);
        }),
      );
    }
    for (const path of this.#traces.keys()) {
      if (seen.has(path)) continue;
      this.#traces.delete(path);
      changed.push(path);
    }
    this.#unwatch(new Set(folders));
    return changed.map((path) => relative(this.#options.folder, path).split(sep).join("/")).sort();
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder) || this.#isClosed) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#noticed());
      watcher.on("error", () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // No notifications for this folder: the regular scan finds its changes.
    }
  }

  #unwatch(folders: ReadonlySet<string>): void {
    for (const folder of this.#watchers.keys()) if (!folders.has(folder)) this.#forget(folder);
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
