// Runs a command and measures it with all of its child processes: wall time, CPU time, and peak memory.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

const LOOK_MS = 20;

/** @returns {Promise<{ seconds: number, peakMb: number, out: string }>} */
export async function measured(program, args, options = {}) {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk) => (output.out += chunk));
  child.stderr.on("data", (chunk) => (output.err += chunk));
  let peakMb = 0;
  const timer = setInterval(() => (peakMb = Math.max(peakMb, treeMb(child.pid))), LOOK_MS);
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1000;
  const isExpected = options.codes?.includes(code) ?? code === 0;
  if (!isExpected) {
    throw new Error(
      `${program} ${args.join(" ")} ended with ${code}:\n${output.out.slice(-2000)}${output.err.slice(-2000)}`,
    );
  }
  return { seconds, peakMb, out: output.out };
}

/** The resident memory of a process and its descendants. */
export function treeMb(root) {
  const parents = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const [, rest] = readFileSync(`/proc/${entry}/stat`, "utf8").split(") ");
      parents.set(Number(entry), Number(rest.split(" ")[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  let sum = 0;
  for (const pid of parents.keys()) {
    for (let at = pid; at; at = parents.get(at)) {
      if (at !== root) continue;
      sum += residentMb(pid);
      break;
    }
  }
  return sum;
}

function residentMb(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
