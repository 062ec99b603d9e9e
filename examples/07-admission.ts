/** Defaults and validates objects before they are stored. Setpoint issues, renews and installs the certificates. */
import { app, mutating, RefusedError, resource, run, validating } from "setpoint";
import { z } from "zod";

export const Coupon = resource("shop.example.com/v1/Coupon", {
  spec: z.object({ code: z.string(), percent: z.int() }),
});

export const coupons = app({
  name: "coupons",
  kinds: [Coupon],
  mutate: [
    mutating(Coupon, {
      create: (coupon) => ({ ...coupon, spec: { ...coupon.spec, code: coupon.spec.code.toUpperCase() } }),
    }),
  ],
  validate: [
    validating(Coupon, {
      create({ spec }, request) {
        if (spec.percent > 50 && !request.user.groups.includes("system:masters")) {
          throw new RefusedError(403, "Forbidden", `${request.user.username} may not give ${spec.percent} %`);
        }
        if (spec.percent > 30) request.warn(`${spec.percent} % is a lot`);
      },
      update({ spec }, old) {
        if (spec.code !== old.spec.code) throw new RefusedError(422, "Invalid", "spec.code cannot change");
      },
    }),
  ],
});

if (process.argv[1] === import.meta.filename) await run(coupons);
