/** The children of a cluster: desired states as plain data, derived from the cluster alone. */
import { createHash } from "node:crypto";
import type { Desired, ObjectOf } from "setpoint";
import type { StatefulSet } from "setpoint/kinds/apps/v1";
import type { CronJob } from "setpoint/kinds/batch/v1";
import type { PodDisruptionBudget } from "setpoint/kinds/policy/v1";
import type { ConfigMap, Service } from "setpoint/kinds/v1";
import type { PostgresCluster } from "./kinds.ts";

const PORT = 5432;

export const secretName = (cluster: string): string => `${cluster}-superuser`;

const labelsOf = ({ metadata: { name } }: PostgresCluster) => ({
  "app.kubernetes.io/name": "postgres",
  "app.kubernetes.io/instance": name,
});

const imageOf = ({ spec: { version } }: PostgresCluster): string => `postgres:${version}`;

export function settings(cluster: PostgresCluster): Desired<ObjectOf<typeof ConfigMap>> {
  const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;
  const lines = Object.entries(cluster.spec.settings).map(([name, value]) => `${name} = ${quoted(value)}`);
  return {
    metadata: { name: cluster.metadata.name, labels: labelsOf(cluster) },
    data: { "postgresql.conf": lines.sort().join("\n") },
  };
}

/** A headless Service that gives each server a name, and one for clients. */
export function services(cluster: PostgresCluster): readonly Desired<ObjectOf<typeof Service>>[] {
  const { name } = cluster.metadata;
  const spec = { selector: labelsOf(cluster), ports: [{ name: "postgres", port: PORT }] };
  return [
    { metadata: { name: `${name}-servers`, labels: labelsOf(cluster) }, spec: { ...spec, clusterIP: "None" } },
    { metadata: { name, labels: labelsOf(cluster) }, spec },
  ];
}

/** `configuration` is what the servers read at start: its hash on the pods restarts them when it changes. */
export function servers(cluster: PostgresCluster, configuration: string): Desired<ObjectOf<typeof StatefulSet>> {
  const { name } = cluster.metadata;
  const { instances, storage } = cluster.spec;
  const labels = labelsOf(cluster);
  const hash = createHash("sha256").update(configuration).digest("hex").slice(0, 16);
  return {
    metadata: { name, labels },
    spec: {
      serviceName: `${name}-servers`,
      replicas: instances,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { "postgres.example.com/configuration": hash } },
        spec: {
          containers: [
            {
              name: "postgres",
              image: imageOf(cluster),
              args: ["-c", "config_file=/etc/postgresql/postgresql.conf"],
              ports: [{ containerPort: PORT }],
              envFrom: [{ secretRef: { name: secretName(name) } }],
              volumeMounts: [
                { name: "data", mountPath: "/var/lib/postgresql" },
                { name: "settings", mountPath: "/etc/postgresql" },
              ],
            },
          ],
          volumes: [{ name: "settings", configMap: { name } }],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
        },
      ],
    },
  };
}

export function disruptionBudget(cluster: PostgresCluster): Desired<ObjectOf<typeof PodDisruptionBudget>> {
  const labels = labelsOf(cluster);
  return {
    metadata: { name: cluster.metadata.name, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  };
}

export function backup(cluster: PostgresCluster, schedule: string): Desired<ObjectOf<typeof CronJob>> {
  const { name } = cluster.metadata;
  const secretKeyRef = { name: secretName(name), key: "POSTGRES_PASSWORD" };
  const env = [{ name: "PGPASSWORD", valueFrom: { secretKeyRef } }];
  const args = ["pg_dumpall", "--host", name, "--username", "postgres"];
  const container = { name: "backup", image: imageOf(cluster), args, env };
  return {
    metadata: { name: `${name}-backup`, labels: labelsOf(cluster) },
    spec: {
      schedule,
      concurrencyPolicy: "Forbid",
      jobTemplate: { spec: { template: { spec: { restartPolicy: "OnFailure", containers: [container] } } } },
    },
  };
}
