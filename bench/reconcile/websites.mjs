// The benchmark's kind, its objects, and the children that both operators make of each: ConfigMaps.
export const WEBSITE = {
  group: "bench.example.com",
  version: "v1",
  kind: "Website",
  apiVersion: "bench.example.com/v1",
  plural: "websites",
  scope: "Namespaced",
};
export const CONFIG_MAP = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  apiVersion: "v1",
  plural: "configmaps",
  scope: "Namespaced",
};
const NAMESPACE = {
  group: "",
  version: "v1",
  kind: "Namespace",
  apiVersion: "v1",
  plural: "namespaces",
  scope: "Cluster",
};
const CRD = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};

export const nameOf = (number) => `website-${String(number).padStart(4, "0")}`;

export const imageOf = (number) => `registry.example.com/websites/site-${number}:v1`;

export async function installKind(client) {
  const spec = {
    type: "object",
    properties: { image: { type: "string" }, sentAt: { type: "string" } },
  };
  await client.create(CRD, {
    metadata: { name: "websites.bench.example.com" },
    spec: {
      group: WEBSITE.group,
      scope: "Namespaced",
      names: { kind: "Website", listKind: "WebsiteList", plural: "websites", singular: "website" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  });
  for (let tries = 0; ; tries++) {
    try {
      return await client.list(WEBSITE);
    } catch (error) {
      if (tries > 100 || error.status !== 404) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** A namespace with `count` websites, made 16 at a time. */
export async function createWebsites(client, namespace, count) {
  await client.create(NAMESPACE, { metadata: { name: namespace } });
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const number = next++;
      const spec = { image: imageOf(number), sentAt: "" };
      await client.create(WEBSITE, { metadata: { namespace, name: nameOf(number) }, spec });
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** That every website has its child, as it should be by now. */
export async function checkChildren(client, namespace, count, isAsDesired) {
  const { items } = await client.list(CONFIG_MAP, { namespace });
  const children = new Map(items.map((child) => [child.metadata.name, child]));
  for (let number = 0; number < count; number++) {
    const child = children.get(`${nameOf(number)}-child`);
    const owner = child?.metadata.ownerReferences?.[0];
    if (child?.data?.image !== imageOf(number) || owner?.name !== nameOf(number) || !isAsDesired(child.data, number)) {
      throw new Error(`${namespace}/${nameOf(number)}: the child is ${JSON.stringify(child?.data)}`);
    }
  }
}
