import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import { main, type Process } from "../main.js";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command line beside a control plane of its own, in this process; files go into a folder that is removed. */
export class CommandLine implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly folder: string;

  private constructor(plane: ControlPlane, folder: string) {
    this.plane = plane;
    this.folder = folder;
  }

  static async create(): Promise<CommandLine> {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-cli-"));
    const plane = await controlPlane({ listen: {} });
    const commandLine = new CommandLine(plane, folder);
    commandLine.file("kubeconfig", plane.kubeconfig!);
    return commandLine;
  }

  /** Writes a file and gives its path. */
  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  run(args: readonly string[], more: Partial<Process> & { readonly input?: string } = {}): Promise<Ran> {
    return runMain(args, { env: { KUBECONFIG: join(this.folder, "kubeconfig") }, ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.plane.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs the command line to its end and gives what it printed. */
export async function runMain(
  args: readonly string[],
  { input = "", ...more }: Partial<Process> & { readonly input?: string } = {},
): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await main(args, {
    env: {},
    stdout: (line) => void out.push(line),
    stderr: (line) => void err.push(line),
    stdin: async () => input,
    terminal: undefined,
    signal: new AbortController().signal,
    ...more,
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}
