// The column definitions with which a server prints each resource.
import { collectionPath } from "./api.mjs";
import { resourcesOf } from "./discovery.mjs";

/**
 * @returns {Promise<{ texts: string[], columns: Record<string, unknown[][]> }>} `group/version/plural` → columns as
 *   [name, type, format, priority, index of the description in `texts`]: most columns share a few long descriptions
 */
export async function harvestColumns(api, discovery) {
  const texts = [];
  const columns = {};
  for (const resource of resourcesOf(discovery)) {
    if (!resource.verbs.includes("list")) continue;
    const table = await api.get(`${collectionPath(resource)}?limit=1`, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    columns[`${resource.group}/${resource.version}/${resource.plural}`] = table.columnDefinitions.map((column) => {
      if (!texts.includes(column.description)) texts.push(column.description);
      return [column.name, column.type, column.format, column.priority, texts.indexOf(column.description)];
    });
  }
  return { texts, columns };
}
