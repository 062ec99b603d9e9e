// The benchmark's objects, and the children that all operators create for each: ConfigMaps.
import { createAll, installKind, NAMESPACE, WEBSITE } from "../website-kind.mjs";

export const CONFIG_MAP = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  apiVersion: "v1",
  plural: "configmaps",
  scope: "Namespaced",
};
const SCHEMA = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { image: { type: "string" }, sentAt: { type: "string" } } },
  },
};

export const nameOf = (number) => `website-${String(number).padStart(4, "0")}`;

export const imageOf = (number) => `registry.example.com/websites/site-${number}:v1`;

export const installWebsites = (client) => installKind(client, SCHEMA);

/** A namespace with `count` websites, created 16 at a time. */
export async function createWebsites(client, namespace, count) {
  await client.create(NAMESPACE, { metadata: { name: namespace } });
  await createAll(count, 16, (number) => {
    const spec = { image: imageOf(number), sentAt: "" };
    return client.create(WEBSITE, { metadata: { namespace, name: nameOf(number) }, spec });
  });
}

/** Checks that every website has this child in the desired state. */
export async function checkChildren(client, namespace, name, count, isAsDesired) {
  const { items } = await client.list(CONFIG_MAP, { namespace });
  const children = new Map(items.map((child) => [child.metadata.name, child]));
  for (let number = 0; number < count; number++) {
    const child = children.get(`${nameOf(number)}-${name}`);
    const owner = child?.metadata.ownerReferences?.[0];
    if (child?.data?.image !== imageOf(number) || owner?.name !== nameOf(number) || !isAsDesired(child.data)) {
      throw new Error(`${namespace}/${nameOf(number)}: the child is ${JSON.stringify(child?.data)}`);
    }
  }
}
