import { rbacCases, reviewCases } from "./areas/access.js";
import { admissionCases } from "./areas/admission.js";
import { apiServiceCases } from "./areas/api-services.js";
import { applyCases } from "./areas/apply.js";
import { autoscalerCases } from "./areas/autoscalers.js";
import { builtInKindCases } from "./areas/built-in-kinds.js";
import { costCases, libraryCases, ruleCases, transitionCases } from "./areas/cel.js";
import { clusterKindCases, warningCases } from "./areas/cluster-kinds.js";
import { createCases } from "./areas/create.js";
import { cronJobCases } from "./areas/cron-jobs.js";
import { crdDefinitionCases } from "./areas/custom-resource-definitions.js";
import { schemaCases } from "./areas/custom-resource-schemas.js";
import { crdCases } from "./areas/custom-resources.js";
import { daemonSetTransitionCases } from "./areas/daemon-set-transitions.js";
import { daemonSetCases } from "./areas/daemon-sets.js";
import { deleteCases, garbageCases, namespaceCases } from "./areas/delete.js";
import { deploymentTransitionCases } from "./areas/deployment-transitions.js";
import { deploymentCases } from "./areas/deployments.js";
import { disruptionBudgetCases } from "./areas/disruption-budgets.js";
import { driftCases } from "./areas/drift.js";
import { endpointCases } from "./areas/endpoints.js";
import { firstObjectCases } from "./areas/first-objects.js";
import { inheritedFieldCases } from "./areas/inherited-fields.js";
import { inheritedNameCases } from "./areas/inherited-names.js";
import { jobCases } from "./areas/jobs.js";
import { limitRangeCases } from "./areas/limit-ranges.js";
import { listCases } from "./areas/list.js";
import { matchConditionCases } from "./areas/match-conditions.js";
import { orderedNamespaceCases } from "./areas/ordered-namespaces.js";
import { jsonPatchCases, mergePatchCases, strategicPatchCases } from "./areas/patch.js";
import { podFieldCases } from "./areas/pod-fields.js";
import { mutatingPolicyCases, policyCases } from "./areas/policies.js";
import { discoveryCases, negotiationCases, openApiCases, tableCases } from "./areas/protocol.js";
import { quotaCases } from "./areas/quotas.js";
import { replicaSetTransitionCases } from "./areas/replica-set-transitions.js";
import { replicaSetCases } from "./areas/replica-sets.js";
import { replicationControllerCases } from "./areas/replication-controllers.js";
import { serviceCases } from "./areas/services.js";
import { statefulSetTransitionCases } from "./areas/stateful-set-transitions.js";
import { statefulSetCases } from "./areas/stateful-sets.js";
import { storageCases } from "./areas/storage.js";
import { subresourceCases } from "./areas/subresources.js";
import { swaggerCases } from "./areas/swagger.js";
import { tableFormCases } from "./areas/table-forms.js";
import { tableRowCases } from "./areas/table-rows.js";
import { updateCases } from "./areas/update.js";
import { volumeCases } from "./areas/volumes.js";
import { watchCases } from "./areas/watch.js";
import { webhookCases } from "./areas/webhooks.js";
import { webSocketCases } from "./areas/websockets.js";
import { workloadGarbageCases } from "./areas/workload-garbage.js";
import type { Case } from "./case.js";
import { interleavings } from "./generative/interleavings.js";
import { patchWalks } from "./generative/patches.js";

/** Seeds of every run, so that a difference once found is looked for ever after. */
const FIXED_SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Every case, in the order of the report; `seeds` adds random ones to the fixed. */
export const allCases = (seeds: readonly number[]): readonly Case[] => [
  ...discoveryCases,
  ...openApiCases,
  ...swaggerCases,
  ...apiServiceCases,
  ...negotiationCases,
  ...tableCases,
  ...tableFormCases,
  ...tableRowCases,
  ...clusterKindCases,
  ...warningCases,
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
  ...orderedNamespaceCases,
  ...listCases,
  ...watchCases,
  ...storageCases,
  ...inheritedNameCases,
  ...inheritedFieldCases,
  ...webSocketCases,
  ...firstObjectCases,
  ...schemaCases,
  ...crdCases,
  ...crdDefinitionCases,
  ...rbacCases,
  ...reviewCases,
  ...admissionCases,
  ...webhookCases,
  ...jobCases,
  ...cronJobCases,
  ...replicaSetCases,
  ...replicaSetTransitionCases,
  ...replicationControllerCases,
  ...deploymentCases,
  ...deploymentTransitionCases,
  ...statefulSetCases,
  ...statefulSetTransitionCases,
  ...daemonSetCases,
  ...daemonSetTransitionCases,
  ...disruptionBudgetCases,
  ...serviceCases,
  ...endpointCases,
  ...volumeCases,
  ...autoscalerCases,
  ...workloadGarbageCases,
  ...driftCases,
  ...builtInKindCases,
  ...podFieldCases,
  ...quotaCases,
  ...limitRangeCases,
  ...ruleCases,
  ...transitionCases,
  ...costCases,
  ...libraryCases,
  ...matchConditionCases,
  ...policyCases,
  ...mutatingPolicyCases,
  ...patchWalks([...FIXED_SEEDS, ...seeds]),
  ...interleavings([...FIXED_SEEDS, ...seeds]),
];
