/** A kind and its controller: the whole of an operator. */
import { controller, resource, run } from "setpoint";
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

if (process.argv[1] === import.meta.filename) await run(greetings);
