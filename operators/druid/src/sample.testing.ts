import { Druid, type DruidNode } from "./druid.js";

type NodeGiven = Partial<DruidNode> & Pick<DruidNode, "nodeType">;

export function sampleNode(given: NodeGiven): object {
  return {
    "druid.port": 8088,
    nodeConfigMountPath: `/opt/druid/conf/${given.nodeType}`,
    "runtime.properties": `druid.service=druid/${given.nodeType}`,
    replicas: 1,
    ...given,
  };
}

/** A cluster as stored by a server, from the few fields that a test states. */
export function sampleDruid(
  nodes: Readonly<Record<string, NodeGiven>>,
  spec: object = {},
  metadata: object = {},
): Druid {
  const druid = Druid.withDefaults({
    metadata: { name: "tiny", namespace: "default", ...metadata },
    spec: {
      image: "apache/druid:30.0.0",
      "common.runtime.properties": "druid.zk.service.host=zk",
      services: [{ spec: { type: "ClusterIP", clusterIP: "None" } }],
      ...spec,
      nodes: Object.fromEntries(Object.entries(nodes).map(([key, node]) => [key, sampleNode(node)])),
    } as never,
  });
  return druid as unknown as Druid;
}

/** One group of each type. */
export function sevenGroups(given: Partial<DruidNode> = {}, spec: object = {}): Druid {
  const types = {
    brokers: "broker",
    coordinators: "coordinator",
    historicals: "historical",
    indexers: "indexer",
    middlemanagers: "middleManager",
    overlords: "overlord",
    routers: "router",
  } as const;
  return sampleDruid(
    Object.fromEntries(Object.entries(types).map(([key, nodeType]) => [key, { ...given, nodeType }])),
    spec,
  );
}
