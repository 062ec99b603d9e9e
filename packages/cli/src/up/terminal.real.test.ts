import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BIN } from "./testing/up-process.js";

/** A terminal of 120 by 40, like a user's; its screen is read as text. */
class Terminal implements Disposable {
  readonly #socket: string;

  constructor(folder: string) {
    this.#socket = join(folder, "tmux");
    const size = ["-x", "120", "-y", "40"];
    this.#tmux("new-session", "-d", ...size, "-c", folder, "env", "PS1=$ ", "ENV=", "NO_COLOR=", "sh");
  }

  type(line: string): void {
    this.#tmux("send-keys", "-l", line);
    this.#tmux("send-keys", "Enter");
  }

  interrupt(): void {
    this.#tmux("send-keys", "C-c");
  }

  split(): void {
    this.#tmux("new-window", "-c", "#{pane_current_path}", "env", "PS1=$ ", "ENV=", "sh");
  }

  back(): void {
    this.#tmux("last-window");
  }

  screen(): string {
    return this.#tmux("capture-pane", "-p").trimEnd();
  }

  colours(): string {
    return this.#tmux("capture-pane", "-p", "-e");
  }

  async until(pattern: RegExp): Promise<string> {
    for (let tries = 0; tries < 600; tries++) {
      const screen = this.screen();
      if (pattern.test(screen)) return screen;
      await systemClock.sleep(100);
    }
    throw new Error(`${pattern} never showed:\n${this.screen()}`);
  }

  [Symbol.dispose](): void {
    this.#tmux("kill-server");
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, "-f", "/dev/null", ...args], { encoding: "utf8" });
  }
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-terminal-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("up, apply --wait and why read well on a terminal", { timeout: 180_000 }, async () => {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { appOwner: "DevOps" } } };
  writeFileSync(join(folder, "shop.json"), JSON.stringify(namespace));
  writeFileSync(join(folder, "setpoint"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
  using terminal = new Terminal(folder);
  terminal.type("./setpoint up --port 0");
  const up = await terminal.until(/Ctrl-C stops it\./);
  expect(up).toContain("Setpoint is up.");
  expect(up).toMatch(/API server {3}https:\/\/127\.0\.0\.1:\d+\n {2}data {9}\.setpoint \(kept between runs\)/);
  expect(up).toContain("export KUBECONFIG=.setpoint/kubeconfig");

  terminal.split();
  terminal.type("export KUBECONFIG=.setpoint/kubeconfig; clear");
  terminal.type("./setpoint apply -f shop.json --wait; echo applied with $?");
  const applied = await terminal.until(/applied with \d/);
  expect(applied).toMatch(/namespace\/shop created\n✓ namespace\/shop ready\napplied with 0/);
  expect(terminal.colours()).toContain("\x1b[32m✓");

  // The namespace is ready before the operator, another process, has handled it.
  terminal.type(
    "until ./setpoint why namespace shop >why && grep wrote why && grep 'Now: nothing' why; do sleep 0.2; done",
  );
  terminal.type("clear; ./setpoint why namespace shop; echo explained with $?");
  const why = await terminal.until(/explained with \d/);
  expect(why).toMatch(/v1\/Namespace shop: rancher-projects in setpoint up \(pid \d+\)/);
  expect(why).toMatch(/T[\d:.]+Z {2}created\n {2}read {5}index management\.cattle\.io\/v3\/Project names devops/);
  expect(why).toMatch(/wrote {4}patch v1\/Namespace shop/);
  expect(why).toMatch(/Now: nothing to do until it, or something that it read, changes\.\nexplained with 0/);

  terminal.back();
  terminal.interrupt();
  terminal.type("echo ended $?");
  expect(await terminal.until(/ended \d/)).toContain("ended 0");
});
