import type { ResourceName } from "setpoint/graph";
import type { Problem } from "./source-text.js";

/** A resource that the files declare, as the graph takes it. Plain JSON. */
export interface DeclaredResource {
  readonly name: ResourceName;
  /** Resources of the project that it reads. Excludes names that no file declares. */
  readonly refs: readonly ResourceName[];
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  /** The spec for the kind in the name: a `ModelSpec` for `Model`. */
  readonly spec: unknown;
}

/** A file of a kind that is not run, such as a dashboard. */
export interface UnrunFile {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
}

/** The settings of the project file and the `.env` files. */
export interface ProjectSettings {
  readonly displayName?: string;
  /** The connector in which models are built. */
  readonly olapConnector: string;
  /** `dev` by default. */
  readonly environment: string;
  /** Values of `{{ .env.NAME }}`. May hold secrets: never stored, logged or shown. */
  readonly variables: Readonly<Record<string, string>>;
  readonly ignorePaths: readonly string[];
}

/**
 * Everything that the files declare. A file with an error declares nothing, but its resource keeps its last good
 * declaration: it is in `broken`, so that nobody deletes its table.
 */
export interface Project {
  readonly settings: ProjectSettings;
  /** True if there is no usable project file. Only `problems` is known then, and nothing is changed or deleted. */
  readonly isFrozen: boolean;
  readonly resources: readonly DeclaredResource[];
  /** Resources whose file has an error now. They are neither updated nor deleted. */
  readonly broken: readonly { readonly name: ResourceName; readonly problem: Problem }[];
  readonly unrun: readonly UnrunFile[];
  readonly problems: readonly Problem[];
}
