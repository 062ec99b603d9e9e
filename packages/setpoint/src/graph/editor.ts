import { SetpointError } from "../errors/error.js";
import type {
  BatchEditor,
  EditOptions,
  GraphEditor,
  MetaChange,
  NewResource,
  ReconcileOptions,
  Ticket,
} from "./graph-editor.js";
import { type ResourceName, sortedRefs } from "./resource.js";
import type { Edit, Weights } from "./state.js";

interface EditorPlace {
  /** `problem`: why the edits cannot be made, whatever the graph holds. */
  submit(edits: readonly Edit[], problem: unknown): Ticket;
  lock: GraphEditor["lock"];
  /** Validates a spec by its kind; throws if it does not fit. */
  specOf(
    name: ResourceName,
    spec: unknown,
  ): { readonly spec: unknown; readonly specHash: string; readonly weights: Weights };
}

/** Single edits, each as a batch of one. */
export abstract class SingleEdits implements GraphEditor {
  abstract batch(work: (edit: BatchEditor) => void): Ticket;
  abstract lock<Result>(work: (edit: GraphEditor) => Promise<Result> | Result): Promise<Result>;

  create(resource: NewResource): Ticket {
    return this.batch((edit) => edit.create(resource));
  }

  updateMeta(name: ResourceName, change: MetaChange, options?: EditOptions): Ticket {
    return this.batch((edit) => edit.updateMeta(name, change, options));
  }

  updateSpec(name: ResourceName, spec: unknown, options?: EditOptions): Ticket {
    return this.batch((edit) => edit.updateSpec(name, spec, options));
  }

  updateName(from: ResourceName, to: ResourceName): Ticket {
    return this.batch((edit) => edit.updateName(from, to));
  }

  delete(name: ResourceName, options?: EditOptions): Ticket {
    return this.batch((edit) => edit.delete(name, options));
  }

  reconcile(name: ResourceName, options?: ReconcileOptions): Ticket {
    return this.batch((edit) => edit.reconcile(name, options));
  }

  cancel(name: ResourceName): Ticket {
    return this.batch((edit) => edit.cancel(name));
  }
}

/** Turns calls into edits, and hands them on. */
export class Editor extends SingleEdits {
  readonly #place: EditorPlace;

  constructor(place: EditorPlace) {
    super();
    this.#place = place;
  }

  batch(work: (edit: BatchEditor) => void): Ticket {
    const edits: Edit[] = [];
    const moves: { from: ResourceName; to: ResourceName }[] = [];
    let problem: unknown;
    /** What is wrong with an edit is told by the ticket, not to the work that makes edits. */
    const add = (edit: () => Edit): void => {
      try {
        edits.push(edit());
      } catch (error) {
        problem ??= error;
      }
    };
    work({
      create: ({ name, spec, refs = [], owner, paths = [], tags = [], hidden = false }) =>
        add(() => {
          const meta = { name: checkedName(name), refs: namesOf(refs), paths: [...paths], tags: [...tags], hidden };
          const owned = owner ? { owner: checkedName(owner) } : {};
          return { type: "create", ...meta, ...owned, ...this.#place.specOf(name, spec) };
        }),
      updateMeta: (name, change, options = {}) =>
        add(() => ({ type: "update", name: checkedName(name), change: copied(change), ...options })),
      updateSpec: (name, spec, options = {}) =>
        add(() => ({ type: "update", name: checkedName(name), change: this.#place.specOf(name, spec), ...options })),
      updateName: (from, to) =>
        add(() => {
          moves.push({ from: checkedName(from), to: checkedName(to) });
          return { type: "rename", moves };
        }),
      delete: (name, options = {}) => add(() => ({ type: "delete", name: checkedName(name), ...options })),
      reconcile: (name, options = {}) => add(() => ({ type: "reconcile", name: checkedName(name), ...options })),
      cancel: (name) => add(() => ({ type: "cancel", name: checkedName(name) })),
    });
    // All renames of a batch are one edit, in the place of the first.
    const first = edits.findIndex(({ type }) => type === "rename");
    return this.#place.submit(
      edits.filter(({ type }, at) => type !== "rename" || at === first),
      problem,
    );
  }

  lock<Result>(work: (edit: GraphEditor) => Promise<Result> | Result): Promise<Result> {
    return this.#place.lock(work);
  }
}

/** A copy, because the caller may change its lists later. */
function copied({ refs, owner, paths, tags }: MetaChange): MetaChange {
  return {
    ...(refs ? { refs: namesOf(refs) } : {}),
    ...(owner ? { owner: checkedName(owner) } : {}),
    ...(paths ? { paths: [...paths] } : {}),
    ...(tags ? { tags: [...tags] } : {}),
  };
}

function namesOf(refs: readonly ResourceName[]): readonly ResourceName[] {
  return sortedRefs(refs.map(checkedName));
}

/** A copy of the name. */
function checkedName(given: ResourceName): ResourceName {
  const { kind, name } = given ?? {};
  if (typeof kind === "string" && typeof name === "string" && name !== "") return { kind, name };
  throw new SetpointError("GRAPH_NAME_INVALID", `${JSON.stringify(given)} is not { kind, name } with two texts`);
}
