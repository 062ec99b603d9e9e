/** Any JSON value, deeply readonly. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
}

/** Metadata as a server returns it. Clients need only send the name: see {@link NewObject}. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** An object of any kind. All objects in Setpoint are plain, deeply readonly JSON data. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object whose fields beyond the metadata are not typed. */
export interface UntypedObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** Carries the type that writers give, if it differs from what readers get; never set at run time. */
export declare const writtenAs: unique symbol;

/** What writers of an object give. */
export type WrittenAs<T> = T extends { readonly [writtenAs]?: infer Written extends object } ? Written : T;

/**
 * An object of type `T` as a client writes it: the server fills in the rest of the metadata, and fields with a default
 * are optional.
 */
export type NewObject<T extends KubeObject> = Omit<WrittenAs<T>, "metadata" | "apiVersion" | "kind" | "status"> & {
  readonly apiVersion?: T["apiVersion"];
  readonly kind?: T["kind"];
  readonly metadata: Partial<ObjectMeta>;
} & Partial<Pick<T, Extract<keyof T, "status">>>;

/**
 * The body of a server-side apply: only what its manager wants to own. The name is required; the server refuses an
 * incomplete object.
 */
export type ApplyConfiguration<T extends KubeObject> = Omit<DeepPartial<T>, "metadata" | "apiVersion" | "kind"> & {
  readonly apiVersion?: T["apiVersion"];
  readonly kind?: T["kind"];
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
};

export type DeepReadonly<T> = T extends string | number | boolean | bigint | symbol | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;
