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

export interface Submission {
  readonly edits: readonly Edit[];
}

interface EditorPlace {
  submit(submission: Submission): Ticket;
  lock: GraphEditor["lock"];
  /** Checks a spec as its kind asks; throws where it does not fit. */
  specOf(
    name: ResourceName,
    spec: unknown,
  ): { readonly spec: unknown; readonly specHash: string; readonly weights: Weights };
}

/** Makes edits out of calls, one by one or in batches. */
export class Editor implements GraphEditor {
  readonly #place: EditorPlace;

  constructor(place: EditorPlace) {
    this.#place = place;
  }

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

  batch(work: (edit: BatchEditor) => void): Ticket {
    const edits: Edit[] = [];
    const moves: { from: ResourceName; to: ResourceName }[] = [];
    work({
      create: ({ name, spec, refs = [], owner, paths = [], tags = [], hidden = false }) => {
        const own = this.#place.specOf(name, spec);
        const meta = { refs: sortedRefs(refs), paths: [...paths], tags: [...tags], hidden };
        edits.push({ type: "create", name: plain(name), ...meta, ...(owner ? { owner: plain(owner) } : {}), ...own });
      },
      updateMeta: (name, change, options = {}) => {
        edits.push({ type: "update", name: plain(name), change: copied(change), ...options });
      },
      updateSpec: (name, spec, options = {}) => {
        edits.push({ type: "update", name: plain(name), change: this.#place.specOf(name, spec), ...options });
      },
      updateName: (from, to) => {
        // All renames of a batch are one edit, in the place of the first.
        if (moves.length === 0) edits.push({ type: "rename", moves });
        moves.push({ from: plain(from), to: plain(to) });
      },
      delete: (name, options = {}) => edits.push({ type: "delete", name: plain(name), ...options }),
      reconcile: (name, options = {}) => edits.push({ type: "reconcile", name: plain(name), ...options }),
      cancel: (name) => edits.push({ type: "cancel", name: plain(name) }),
    });
    return this.#place.submit({ edits });
  }

  lock<Result>(work: (edit: GraphEditor) => Promise<Result> | Result): Promise<Result> {
    return this.#place.lock(work);
  }
}

/** What the caller does with its lists later changes nothing here. */
function copied({ refs, owner, paths, tags }: MetaChange): MetaChange {
  return {
    ...(refs ? { refs: sortedRefs(refs) } : {}),
    ...(owner ? { owner: plain(owner) } : {}),
    ...(paths ? { paths: [...paths] } : {}),
    ...(tags ? { tags: [...tags] } : {}),
  };
}

function plain({ kind, name }: ResourceName): ResourceName {
  return { kind, name };
}
