/** For code that needs events: each add, update and delete of an object, in order, with retries. */
import { resource, run, type Watcher, watcher } from "setpoint";
import { z } from "zod";

export const Order = resource("shop.example.com/v1/Order", { spec: z.object({ item: z.string(), count: z.int() }) });

/** The finalizer guarantees that no delete is missed: the object stays until its delete is recorded. */
export const audit = (write: (line: string) => void): Watcher =>
  watcher(Order, {
    name: "audit",
    finalizer: "shop.example.com/audit",
    add: ({ metadata, spec }) => write(`${metadata.name}: ordered ${spec.count} ${spec.item}`),
    update: ({ metadata, spec }, old) => {
      if (old.spec.count !== spec.count) write(`${metadata.name}: ${old.spec.count} became ${spec.count}`);
    },
    delete: ({ metadata }) => write(`${metadata.name}: cancelled`),
    sync: () => {}, // without `sync`, a restart calls `add` again for every order that already has the finalizer
  });

if (process.argv[1] === import.meta.filename) await run(audit(console.log));
