import { createHash } from "node:crypto";
import { type Kind, type KubeObject, resource } from "setpoint";
import type { CrdManifest } from "setpoint/kinds";

export const GROUP = "pipelines.setpoint.dev";

/** Label that names the project of an object. */
export const PROJECT_LABEL = `${GROUP}/project`;

/** A new value of this annotation requests a refresh. A value that starts with `full` requests a full refresh. */
export const REFRESH_ANNOTATION = `${GROUP}/refresh`;

export interface MirroredCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface MirroredSpec {
  /** The resource's own name. It may have characters that names of objects must not have. */
  readonly name: string;
  readonly paths: readonly string[];
  readonly refs: readonly { readonly kind: string; readonly name: string }[];
  /** The spec that the runtime has parsed from the file. */
  readonly declaration: Readonly<Record<string, unknown>>;
}

export interface MirroredStatus {
  readonly conditions?: readonly MirroredCondition[];
  readonly rows?: number;
  readonly builtOn?: string;
  readonly durationMs?: number;
  readonly outputVersion?: string;
  readonly runId?: string;
  /** The last value of the annotation that the mirror has acted on. */
  readonly lastRefresh?: string;
}

/** A resource of a project as a Kubernetes object. */
export interface MirroredObject extends KubeObject {
  readonly spec: MirroredSpec;
  readonly status?: MirroredStatus;
}

export interface MirroredKind {
  readonly kind: Kind<MirroredObject>;
  crd(): CrdManifest;
}

const text = { type: "string" } as const;

const condition = {
  type: "object",
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
  properties: {
    type: text,
    status: { ...text, enum: ["True", "False", "Unknown"] },
    reason: text,
    message: text,
    lastTransitionTime: { ...text, format: "date-time" },
    observedGeneration: { type: "integer" },
  },
} as const;

/** The custom resource for a kind of the graph: `Model` is served as `models.pipelines.setpoint.dev`. */
export function mirroredKind(name: string): MirroredKind {
  const declared = resource(`${GROUP}/v1alpha1/${name}`, {
    description: `A ${name} of a folder of files that Setpoint keeps. Its file is the source of truth: Setpoint reverts edits of this object.`,
    categories: ["pipelines"],
    spec: {
      type: "object",
      required: ["name", "paths", "refs", "declaration"],
      properties: {
        name: text,
        paths: { type: "array", items: text },
        refs: {
          type: "array",
          items: { type: "object", required: ["kind", "name"], properties: { kind: text, name: text } },
        },
        declaration: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: {
      type: "object",
      properties: {
        conditions: {
          type: "array",
          items: condition,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
        },
        rows: { type: "integer" },
        builtOn: { ...text, format: "date-time" },
        durationMs: { type: "integer" },
        outputVersion: text,
        runId: text,
        lastRefresh: text,
      },
    },
    columns: {
      Ready: { path: ".status.conditions[?(@.type=='Ready')].status", type: "string" },
      Reason: { path: ".status.conditions[?(@.type=='Ready')].reason", type: "string" },
      Rows: { path: ".status.rows", type: "integer" },
      Built: { path: ".status.builtOn", type: "date" },
    },
  });
  return { kind: declared as unknown as Kind<MirroredObject>, crd: () => declared.crd() };
}

/**
 * The name of a resource's object. Underscores become dashes. A name that has other characters, or that is too long,
 * gets a hash of itself, so that no two resources share an object.
 */
export function objectName(name: string): string {
  const lower = name.toLowerCase();
  if (/^[a-z0-9]([a-z0-9_]*[a-z0-9])?$/.test(lower) && lower.length <= 200) return lower.replaceAll("_", "-");
  const readable = lower
    .slice(0, 200)
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  const hash = createHash("sha256").update(lower).digest("hex").slice(0, 8);
  return readable === "" ? `x-${hash}` : `${readable}-${hash}`;
}

/** Makes a text valid as the value of a label. */
export function labelValue(given: string): string {
  const value = given.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 63);
  return value.replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "") || "project";
}
