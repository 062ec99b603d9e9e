export { type ControlPlane, type ControlPlaneOptions, controlPlane, type ListenOptions } from "./control-plane.js";
export { inProcessTransport } from "./http/in-process-transport.js";
export { StorageFailure, type StorageFailureCode } from "./storage/storage-error.js";
