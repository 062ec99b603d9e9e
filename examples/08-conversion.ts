/** Two versions of one kind: clients use either, objects are stored in the newer one, and a webhook converts. */
import { app, resource, run } from "setpoint";
import { z } from "zod";

export const VolumeV1 = resource("disk.example.com/v1/Volume", {
  spec: z.object({ size: z.object({ amount: z.int(), unit: z.enum(["Mi", "Gi"]) }) }),
});

export const VolumeV1beta1 = resource("disk.example.com/v1beta1/Volume", {
  spec: z.object({ sizeMi: z.int() }),
});

export const Volume = VolumeV1.withVersion(VolumeV1beta1, {
  deprecated: "use disk.example.com/v1",
  up: ({ spec: { sizeMi } }) => {
    const isWhole = sizeMi % 1024 === 0;
    return { spec: { size: isWhole ? { amount: sizeMi / 1024, unit: "Gi" } : { amount: sizeMi, unit: "Mi" } } };
  },
  down: ({ spec: { size } }) => ({ spec: { sizeMi: size.amount * (size.unit === "Gi" ? 1024 : 1) } }),
});

export const volumes = app({ name: "volumes", kinds: [Volume] });

if (process.argv[1] === import.meta.filename) await run(volumes);
