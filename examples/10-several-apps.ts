/** Two apps in one process share a connection, a cache per kind, a webhook server and, if enabled, a lease. */
import { app, controller, resource, run, validating } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { z } from "zod";

export const Team = resource("people.example.com/v1/Team", { spec: z.object({ members: z.array(z.string()) }) });
export const Desk = resource("rooms.example.com/v1/Desk", {
  spec: z.object({ team: z.string() }),
  status: z.object({ seats: z.int().optional() }),
});

export const people = app({
  name: "people",
  kinds: [Team],
  validate: [
    validating(Team, {
      create({ spec }) {
        if (spec.members.length === 0) throw new Error("a team has members");
      },
    }),
  ],
  loops: [
    controller(Team, {
      owns: [ConfigMap],
      async reconcile({ metadata, spec }, ctx) {
        await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { members: spec.members.join(",") } });
      },
    }),
  ],
});

export const rooms = app({
  name: "rooms",
  kinds: [Desk],
  unmanaged: [Team],
  loops: [
    controller(Desk, {
      uses: [Team], // shares the other app's cache
      async reconcile({ spec }, ctx) {
        ctx.status({ seats: (await ctx.get(Team, spec.team)).spec.members.length });
      },
    }),
  ],
});

if (process.argv[1] === import.meta.filename) await run([people, rooms]);
