// The hostile tenant: 33 clients that send every attack of the control plane's soak in turn until their parent stops
// them. They only have `edit` in one namespace, and a user without any role.
import { soakModule } from "./soak-module.mjs";

const CLIENTS = 33;
const server = JSON.parse(process.argv[2]);

const { attacks } = await soakModule("attacks.ts");
const { Attacker } = await soakModule("attacker.ts");
const attacker = new Attacker(server, 2 * CLIENTS);
const all = attacks();
const counts = {};
const achieved = {};
process.on("message", () => process.send({ counts, achieved }));
for (let client = 0; client < CLIENTS; client++) {
  void (async () => {
    for (let at = client; ; at++) {
      const { row, name, run } = all[at % all.length];
      const title = `${row} ${name}`.trim();
      counts[title] = (counts[title] ?? 0) + 1;
      const wrong = await run(attacker).catch(() => undefined);
      if (wrong !== undefined) achieved[title] = wrong;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
}
