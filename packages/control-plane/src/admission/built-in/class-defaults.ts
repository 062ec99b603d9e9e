import type { UntypedObject } from "setpoint/kinds";
import type { Storage } from "../../storage/storage.js";
import { type Admitter, defaultClass } from "./kind-admission.js";

const STORAGE_DEFAULTS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const INGRESS_DEFAULTS = ["ingressclass.kubernetes.io/is-default-class"];

/** The plugin DefaultStorageClass: a claim that names no class gets the default one. */
export function defaultStorageClass(storage: Storage): Admitter {
  return defaulting(
    storage,
    "storage.k8s.io/storageclasses",
    STORAGE_DEFAULTS,
    "storageClassName",
    "volume.beta.kubernetes.io/storage-class",
  );
}

/** The plugin DefaultIngressClass: the same for ingresses. */
export function defaultIngressClass(storage: Storage): Admitter {
  return defaulting(
    storage,
    "networking.k8s.io/ingressclasses",
    INGRESS_DEFAULTS,
    "ingressClassName",
    "kubernetes.io/ingress.class",
  );
}

/** `legacy` is the annotation that named the class before there was a field for it. */
function defaulting(
  storage: Storage,
  classes: string,
  annotations: readonly string[],
  field: string,
  legacy: string,
): Admitter {
  return (object, { operation }) => {
    const { spec, metadata } = object as UntypedObject & { readonly spec?: Readonly<Record<string, unknown>> };
    if (operation !== "CREATE" || spec?.[field] !== undefined || metadata.annotations?.[legacy] !== undefined) {
      return object;
    }
    const chosen = defaultClass(storage.snapshot(classes)!.entries(), annotations);
    return chosen === undefined ? object : { ...object, spec: { ...spec, [field]: chosen.metadata.name } };
  };
}
