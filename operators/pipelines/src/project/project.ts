import type { ResourceName } from "setpoint/graph";
import type { Problem } from "./source-text.js";

/** One resource that the files declare, as the graph takes it. Plain JSON. */
export interface DeclaredResource {
  readonly name: ResourceName;
  /** Resources of the project that it reads. Names that no file declares are not here. */
  readonly refs: readonly ResourceName[];
  readonly paths: readonly string[];
  readonly tags: readonly string[];
  /** Of the type that the kind of the name takes: `ModelSpec` for `Model`. */
  readonly spec: unknown;
}

/** A file of a kind that is not run, such as a dashboard. */
export interface UnrunFile {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
}

/** What the project file and the `.env` files say. */
export interface ProjectSettings {
  readonly displayName?: string;
  /** The connector in which models are built. */
  readonly olapConnector: string;
  /** `dev` unless told otherwise. */
  readonly environment: string;
  /** Values of `{{ .env.NAME }}`. May hold secrets: never stored, logged or shown. */
  readonly variables: Readonly<Record<string, string>>;
  readonly ignorePaths: readonly string[];
}

/**
 * All that the files say. A file with an error declares nothing, but its resources keep their last good declaration: they are
 * in `broken`, so that nobody deletes their tables.
 */
export interface Project {
  readonly settings: ProjectSettings;
  /** True where no project file can be used: nothing is known then but `problems`, and nobody changes or deletes anything. */
  readonly isFrozen: boolean;
  readonly resources: readonly DeclaredResource[];
  /** Resources whose file has an error now. They are neither updated nor deleted. */
  readonly broken: readonly { readonly name: ResourceName; readonly problem: Problem }[];
  readonly unrun: readonly UnrunFile[];
  readonly problems: readonly Problem[];
}
