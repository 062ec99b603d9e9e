import type { AdmissionPlugin } from "../admission.js";
import { defaultIngressClass, defaultStorageClass } from "./class-defaults.js";
import { kindAdmission } from "./kind-admission.js";
import { taintNewNodes } from "./node-taint.js";
import { onePriorityDefault, podPriority } from "./priority.js";
import { runtimeClasses } from "./runtime-class.js";
import { type ServiceAccountEnvironment, serviceAccounts } from "./service-account.js";
import { defaultTolerations } from "./tolerations.js";

/** What the real server's default plugins do to single kinds, in their order there. */
export function builtInAdmission(environment: ServiceAccountEnvironment): AdmissionPlugin {
  const { storage } = environment;
  return kindAdmission("BuiltInKinds", {
    "/pods": [serviceAccounts(environment), podPriority(storage), defaultTolerations, runtimeClasses(storage)],
    "/nodes": [taintNewNodes],
    "/persistentvolumeclaims": [defaultStorageClass(storage)],
    "networking.k8s.io/ingresses": [defaultIngressClass(storage)],
    "scheduling.k8s.io/priorityclasses": [onePriorityDefault(storage)],
  });
}
