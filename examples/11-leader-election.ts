/** Example 01 in two processes with one lease: one works, the other waits with warm caches and takes over. */
import { controller, resource, run } from "setpoint";
import type { ManagerOptions } from "setpoint/manager";
import { z } from "zod";

export const Greeting = resource("example.com/v1/Greeting", {
  spec: z.object({ name: z.string() }),
  status: z.object({ text: z.string().optional() }),
});

export const greetings = controller(Greeting, {
  reconcile(greeting, ctx) {
    ctx.status({ text: `Hello, ${greeting.spec.name}!` });
  },
});

/**
 * The same in every process. `name` is the Lease's name: another operator in this namespace needs another one. A
 * shutdown releases the lease at once; after a crash the other process takes over when it expires (15 s).
 */
export const options: Partial<ManagerOptions> = { name: "greetings", leaderElection: {} };

if (process.argv[1] === import.meta.filename) await run(greetings, options);
