import type { AdmissionPlugin } from "../../registry/write/admission.js";
import { defaultIngressClass, defaultStorageClass } from "./class-defaults.js";
import { type Admitter, kindAdmission } from "./kind-admission.js";
import { taintNewNodes } from "./node-taint.js";
import { onePriorityDefault, podPriority } from "./priority.js";
import { requireClassOfOverhead, runtimeClasses } from "./runtime-class.js";
import { type ServiceAccountEnvironment, serviceAccounts } from "./service-account.js";
import { defaultTolerations } from "./tolerations.js";

/** The real server's default plugins for single kinds, in its order, without the disabled ones. */
export function builtInAdmission(
  environment: ServiceAccountEnvironment,
  disabled: ReadonlySet<string> = new Set(),
): AdmissionPlugin {
  const { storage } = environment;
  const plugins: readonly (readonly [name: string, resource: string, admitter: Admitter])[] = [
    ["ServiceAccount", "/pods", serviceAccounts(environment)],
    ["Priority", "/pods", podPriority(storage)],
    ["DefaultTolerationSeconds", "/pods", defaultTolerations],
    ["RuntimeClass", "/pods", runtimeClasses(storage)],
    ["TaintNodesByCondition", "/nodes", taintNewNodes],
    ["DefaultStorageClass", "/persistentvolumeclaims", defaultStorageClass(storage)],
    ["DefaultIngressClass", "networking.k8s.io/ingresses", defaultIngressClass(storage)],
    ["Priority", "scheduling.k8s.io/priorityclasses", onePriorityDefault(storage)],
  ];
  const byResource: Record<string, Admitter[]> = {};
  for (const [name, resource, admitter] of plugins) {
    if (!disabled.has(name)) (byResource[resource] ??= []).push(admitter);
  }
  const plugin = kindAdmission("BuiltInKinds", byResource);
  if (disabled.has("RuntimeClass")) return plugin;
  return { ...plugin, validate: async (attributes) => requireClassOfOverhead(storage, attributes) };
}
