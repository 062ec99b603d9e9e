import { rbacCases, reviewCases } from "./areas/admission/access.js";
import { admissionCases } from "./areas/admission/admission.js";
import { limitRangeCases } from "./areas/admission/limit-ranges.js";
import { matchConditionCases } from "./areas/admission/match-conditions.js";
import { mutatingPolicyCases, policyCases } from "./areas/admission/policies.js";
import { quotaCases } from "./areas/admission/quotas.js";
import { webhookCases } from "./areas/admission/webhooks.js";
import { builtInKindCases } from "./areas/built-in-kinds.js";
import { clusterKindCases, warningCases } from "./areas/cluster-kinds.js";
import { costCases, libraryCases, ruleCases, transitionCases } from "./areas/custom/cel.js";
import { crdDefinitionCases } from "./areas/custom/custom-resource-definitions.js";
import { schemaCases } from "./areas/custom/custom-resource-schemas.js";
import { crdCases } from "./areas/custom/custom-resources.js";
import { endpointCases } from "./areas/endpoints.js";
import { podFieldCases } from "./areas/pod-fields.js";
import { apiServiceCases } from "./areas/protocol/api-services.js";
import { firstObjectCases } from "./areas/protocol/first-objects.js";
import { listCases } from "./areas/protocol/list.js";
import { discoveryCases, negotiationCases, openApiCases, tableCases } from "./areas/protocol/protocol.js";
import { swaggerCases } from "./areas/protocol/swagger.js";
import { tableFormCases } from "./areas/protocol/table-forms.js";
import { tableRowCases } from "./areas/protocol/table-rows.js";
import { watchCases } from "./areas/protocol/watch.js";
import { webSocketCases } from "./areas/protocol/websockets.js";
import { serviceCases } from "./areas/services.js";
import { storageCases } from "./areas/storage.js";
import { volumeCases } from "./areas/volumes.js";
import { autoscalerCases } from "./areas/workloads/autoscalers.js";
import { cronJobCases } from "./areas/workloads/cron-jobs.js";
import { daemonSetTransitionCases } from "./areas/workloads/daemon-set-transitions.js";
import { daemonSetCases } from "./areas/workloads/daemon-sets.js";
import { deploymentTransitionCases } from "./areas/workloads/deployment-transitions.js";
import { deploymentCases } from "./areas/workloads/deployments.js";
import { disruptionBudgetCases } from "./areas/workloads/disruption-budgets.js";
import { driftCases } from "./areas/workloads/drift.js";
import { jobCases } from "./areas/workloads/jobs.js";
import { replicaSetTransitionCases } from "./areas/workloads/replica-set-transitions.js";
import { replicaSetCases } from "./areas/workloads/replica-sets.js";
import { replicationControllerCases } from "./areas/workloads/replication-controllers.js";
import { statefulSetTransitionCases } from "./areas/workloads/stateful-set-transitions.js";
import { statefulSetCases } from "./areas/workloads/stateful-sets.js";
import { workloadGarbageCases } from "./areas/workloads/workload-garbage.js";
import { applyCases } from "./areas/writes/apply.js";
import { createCases } from "./areas/writes/create.js";
import { deleteCases, garbageCases, namespaceCases } from "./areas/writes/delete.js";
import { inheritedFieldCases } from "./areas/writes/inherited-fields.js";
import { inheritedNameCases } from "./areas/writes/inherited-names.js";
import { orderedNamespaceCases } from "./areas/writes/ordered-namespaces.js";
import { jsonPatchCases, mergePatchCases, strategicPatchCases } from "./areas/writes/patch.js";
import { subresourceCases } from "./areas/writes/subresources.js";
import { updateCases } from "./areas/writes/update.js";
import type { Case } from "./case.js";
import { interleavings } from "./generative/interleavings.js";
import { patchWalks } from "./generative/patches.js";

/** Seeds of every run, so that a difference that was once found is always checked. */
const FIXED_SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Every case, in the order of the report; `seeds` adds random ones to the fixed ones. */
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
