import { rbacCases, reviewCases } from "./areas/access.js";
import { applyCases } from "./areas/apply.js";
import { crdCases, crdDefinitionCases, schemaCases } from "./areas/crd.js";
import { createCases } from "./areas/create.js";
import { deleteCases, garbageCases, namespaceCases } from "./areas/delete.js";
import { listCases } from "./areas/list.js";
import { jsonPatchCases, mergePatchCases, strategicPatchCases } from "./areas/patch.js";
import { discoveryCases, negotiationCases, openApiCases, tableCases } from "./areas/protocol.js";
import { subresourceCases } from "./areas/subresources.js";
import { updateCases } from "./areas/update.js";
import { watchCases } from "./areas/watch.js";
import type { Case } from "./case.js";

/** Every case, in the order of the report. */
export const allCases: readonly Case[] = [
  ...discoveryCases,
  ...openApiCases,
  ...negotiationCases,
  ...tableCases,
  ...createCases,
  ...updateCases,
  ...jsonPatchCases,
  ...mergePatchCases,
  ...strategicPatchCases,
  ...applyCases,
  ...subresourceCases,
  ...deleteCases,
  ...garbageCases,
  ...namespaceCases,
  ...listCases,
  ...watchCases,
  ...schemaCases,
  ...crdCases,
  ...crdDefinitionCases,
  ...rbacCases,
  ...reviewCases,
];
