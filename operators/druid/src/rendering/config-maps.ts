import type { Druid, DruidNode } from "../druid.js";
import type { Labels } from "./naming.js";

type Data = Readonly<Record<string, string>>;

const DEPENDENCIES = {
  zookeeper: "Zookeeper",
  metadataStore: "MetadataStore",
  deepStorage: "DeepStorage",
} as const;

export function commonConfigName(cluster: string): string {
  return `${cluster}-druid-common-config`;
}

/** `extra` holds the data of the `extraCommonConfig` ConfigMaps, in order. Later ones take precedence. */
export function commonConfig(druid: Druid, extra: readonly Data[]): Data {
  const { spec } = druid;
  const properties = (Object.keys(DEPENDENCIES) as (keyof typeof DEPENDENCIES)[]).map((field) => {
    const dependency = spec[field];
    return dependency ? `\n${dependencyProperties(dependency.spec)}\n` : "";
  });
  return Object.assign(
    { "common.runtime.properties": `${spec["common.runtime.properties"]}${properties.join("")}` },
    ...(["metricDimensions.json", "hdfs-site.xml", "core-site.xml"] as const).map((key) =>
      spec[key] ? { [key]: spec[key] } : {},
    ),
    ...extra,
  );
}

/** Problems of the cluster's dependencies, with druid-operator's messages. */
export function dependencyProblems({ spec }: Druid): readonly { readonly path: string; readonly message: string }[] {
  return (Object.keys(DEPENDENCIES) as (keyof typeof DEPENDENCIES)[]).flatMap((field) => {
    const dependency = spec[field];
    if (!dependency) return [];
    if (dependency.type !== "default") {
      const message = `Can't find type[${dependency.type}] for ${DEPENDENCIES[field]} Mgmt.`;
      return [{ path: `spec.${field}.type`, message }];
    }
    if (dependencyProperties(dependency.spec) !== undefined) return [];
    return [
      { path: `spec.${field}.spec`, message: "must have the text `properties`, as an object or its JSON in base64" },
    ];
  });
}

/** The published CRD stores base64 of JSON. Ours also accepts the object itself. */
function dependencyProperties(given: unknown): string | undefined {
  let spec = given;
  if (typeof given === "string") {
    try {
      spec = JSON.parse(Buffer.from(given, "base64").toString());
    } catch {
      return undefined;
    }
  }
  const { properties } = (spec ?? {}) as { readonly properties?: unknown };
  return typeof properties === "string" ? properties : undefined;
}

export function nodeConfig(druid: Druid, node: DruidNode): Data {
  const log4j = node["log4j.config"] || druid.spec["log4j.config"];
  return {
    "runtime.properties": `druid.port=${node["druid.port"]}\n${node["runtime.properties"]}`,
    "jvm.config": `${node["jvm.options"] || druid.spec["jvm.options"] || ""}\n${node["extra.jvm.options"] ?? ""}`,
    ...(log4j ? { "log4j2.xml": log4j } : {}),
  };
}

export function configMap(druid: Druid, name: string, labels: Labels, data: Data) {
  const { namespace } = druid.metadata;
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data } as const;
}
