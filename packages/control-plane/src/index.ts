export { type ControlPlane, type ControlPlaneOptions, controlPlane, type ListenOptions } from "./control-plane.js";
export type { ExecCall, ExecHandler, ExecResult } from "./exec/scripted-answer.js";
export { inProcessTransport } from "./http/in-process-transport.js";
export { ControlPlaneSnapshot } from "./snapshot.js";
export { writePrivateFile } from "./storage/private-file.js";
export { StorageFailure, type StorageFailureCode } from "./storage/storage-error.js";
export { WORKLOAD_NAMES, type WorkloadChoice, type WorkloadName } from "./workloads/workload-choice.js";
