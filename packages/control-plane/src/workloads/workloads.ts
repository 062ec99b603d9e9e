import type { Client, Logger, Loop } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import { Manager } from "setpoint/manager";
import { autoscalerController } from "./autoscaler/autoscaler-controller.js";
import { cronJobController } from "./cron-job/cron-job-controller.js";
import { daemonSetController } from "./daemon-set/daemon-set-controller.js";
import { deploymentController } from "./deployment/deployment-controller.js";
import { disruptionBudgetController } from "./disruption-budget/disruption-budget-controller.js";
import { jobController } from "./job/job-controller.js";
import { releasedPodController } from "./job/released-pods.js";
import { ensureNode, nodeController } from "./node/node-controller.js";
import { podController } from "./pod/pod-controller.js";
import { PodPace } from "./pod-pace.js";
import { replicaSetController } from "./replica-set/replica-set-controller.js";
import { replicationControllerController } from "./replica-set/replication-controller-controller.js";
import { schedulerController } from "./scheduler/scheduler-controller.js";
import { endpointSliceControllers, endpointsControllers } from "./service/service-controllers.js";
import { installStages } from "./stage/stage.js";
import { stageController } from "./stage/stage-controllers.js";
import { statefulSetController } from "./stateful-set/stateful-set-controller.js";
import { claimController } from "./volume/claim-controller.js";
import { ephemeralClaimController } from "./volume/ephemeral-claims.js";
import { ensureStorageClass, volumeController } from "./volume/volume-controller.js";
import type { WorkloadName } from "./workload-choice.js";

/** What the controllers need besides the API. */
export interface WorkloadEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether `Stage` objects script pods and nodes. */
  readonly hasStages?: boolean;
}

/** What the controllers that create pods need. They share the rate limit. */
export interface PodMakingEnvironment extends WorkloadEnvironment {
  readonly podPace: PodPace;
}

export interface WorkloadsOptions extends WorkloadEnvironment {
  readonly client: Client;
  /** The client of the controllers. Defaults to `client`. */
  readonly controllerClient?: Client;
  readonly names: readonly WorkloadName[];
  readonly log?: Logger;
}

const CONTROLLERS: Readonly<Record<WorkloadName, (environment: PodMakingEnvironment) => Loop | readonly Loop[]>> = {
  nodes: nodeController,
  scheduler: schedulerController,
  pods: podController,
  // The pod and node controllers play the stages of their kinds. See below for other kinds.
  stages: () => [],
  replicasets: replicaSetController,
  replicationcontrollers: replicationControllerController,
  deployments: deploymentController,
  statefulsets: statefulSetController,
  daemonsets: daemonSetController,
  disruptionbudgets: disruptionBudgetController,
  jobs: (environment) => [jobController(environment), releasedPodController()],
  cronjobs: cronJobController,
  autoscalers: autoscalerController,
  volumes: (environment) => [claimController(), ephemeralClaimController(), volumeController(environment)],
  endpointslices: endpointSliceControllers,
  endpoints: endpointsControllers,
};

/**
 * Runs the workload controllers on the control plane's own client. Resolves when they have started. Creates a node
 * for the simulation if there is none, and a default storage class for volumes.
 */
export async function startWorkloads(options: WorkloadsOptions): Promise<Manager> {
  const { client, controllerClient = client, clock, random, names, log } = options;
  const manager = new Manager({
    name: "kube-controller-manager",
    client: controllerClient,
    clock,
    random,
    grace: 0,
    // The control plane's own client may do everything, so there are no permissions to check.
    preflight: false,
    ...(log && { log }),
  });
  const hasStages = names.includes("stages");
  if (hasStages) await installStages(client);
  const environment = { clock, random, hasStages, podPace: new PodPace(clock) };
  for (const workload of names.flatMap((name) => CONTROLLERS[name](environment))) manager.add(workload);
  if (hasStages) {
    const add = (loop: Loop): void => void manager.add(loop);
    manager.add(stageController({ client, clock, random, add }));
  }
  if (names.includes("nodes")) await ensureNode(client);
  if (names.includes("volumes")) await ensureStorageClass(client);
  await manager.start();
  return manager;
}
