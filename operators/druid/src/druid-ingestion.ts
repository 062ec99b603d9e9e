import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import { auth, conditions } from "./druid.js";

const json = z.looseObject({});

export const DruidIngestion = resource("druid.apache.org/v1alpha1/DruidIngestion", {
  spec: z.object({
    suspend: z.boolean().optional(),
    druidCluster: z.string(),
    ingestion: z.object({
      type: z.string(),
      /** The ingestion spec as a JSON string. `nativeSpec` takes precedence. */
      spec: z.string().optional(),
      nativeSpec: json.optional(),
      compaction: json.optional(),
      rules: z.array(json).optional(),
      /** Lookups by tier and name, in the format of Druid's API. The published CRD lacks this field. */
      lookups: z.record(z.string(), z.record(z.string(), json)).optional(),
    }),
    auth: auth.optional(),
  }),
  status: z.object({
    taskId: z.string().optional(),
    type: z.string().optional(),
    /** Submitted, Running, Succeeded, Suspended, Failed. */
    status: z.string().optional(),
    reason: z.string().optional(),
    message: z.string().optional(),
    lastUpdateTime: z.string().meta({ format: "date-time" }).optional(),
    "currentIngestionSpec.json": z.string().optional(),
    rules: z.array(json).optional(),
    /** Whether this object configured compaction, and must delete it when the field is removed. */
    compacted: z.boolean().optional(),
    /** The lookups that this object created, by tier, so that it can delete them. */
    lookups: z.record(z.string(), z.array(z.string())).optional(),
    conditions,
  }),
  columns: {
    Age: ".metadata.creationTimestamp",
    Type: ".spec.ingestion.type",
    Status: ".status.status",
    Task: { path: ".status.taskId", priority: 1 },
  } as never,
  markers: { "spec.auth.secretRef": k8s.mapAtomic },
});
export type DruidIngestion = ObjectOf<typeof DruidIngestion>;
