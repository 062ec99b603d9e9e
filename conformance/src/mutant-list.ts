/** One behaviour of the control plane, and how to break it. */
export interface Mutant {
  /** The area whose cases are to notice it. */
  readonly area: string;
  readonly behaviour: string;
  /** Below `packages/control-plane/src`. */
  readonly file: string;
  /** Stands once in the file. */
  readonly find: string;
  readonly replace: string;
}

const mutant = (area: string, behaviour: string, file: string, find: string, replace: string): Mutant => ({
  area,
  behaviour,
  file,
  find,
  replace,
});

export const mutants: readonly Mutant[] = [
  mutant(
    "custom resources",
    "a new object has generation 1",
    "registry/write/create.ts",
    "generation: 1 }",
    "generation: 2 }",
  ),
  mutant(
    "custom resources",
    "the generation counts changes",
    "registry/write/update.ts",
    "(old.metadata.generation ?? 0) + 1",
    "(old.metadata.generation ?? 0)",
  ),
  mutant(
    "create",
    "a dry run keeps nothing",
    "registry/write/create.ts",
    "if (request.isDryRun) return {",
    "if (request.isDryRun && false) return {",
  ),
  mutant(
    "create",
    "a taken name is refused with AlreadyExists",
    "registry/status-error.ts",
    '" already exists`, detailsOf(of, name));',
    '" is there already`, detailsOf(of, name));',
  ),
  mutant(
    "list",
    "a page tells how many remain",
    "registry/read/list.ts",
    "remainingItemCount: remaining }",
    "remainingItemCount: remaining + 1 }",
  ),
  mutant(
    "list",
    "selectors filter lists",
    "registry/read/list.ts",
    ": filter.matches(stored.object))) continue;",
    ": filter.matches(stored.object) || true)) continue;",
  ),
  mutant(
    "watch",
    "the initial events have an end",
    "registry/read/watch.ts",
    '"k8s.io/initial-events-end": "true"',
    '"k8s.io/initial-events-end": "false"',
  ),
  mutant(
    "watch",
    "an object that enters a selector is added",
    "registry/read/watch.ts",
    'wasIn ? "MODIFIED" : "ADDED"',
    '"MODIFIED"',
  ),
  mutant(
    "watch",
    "an object that leaves a selector is deleted",
    "registry/read/watch.ts",
    "else if (wasIn) this.#send",
    "else if (wasIn && false) this.#send",
  ),
  mutant(
    "apply",
    "an apply conflicts with other managers",
    "apply/field-manager.ts",
    "if (conflicts.length > 0) throw",
    "if (conflicts.length > 99) throw",
  ),
  mutant(
    "apply",
    "force takes fields over",
    "apply/field-manager.ts",
    "outcome = run(force);",
    "outcome = run(false);",
  ),
  mutant(
    "apply",
    "an applied object states no managed fields",
    "apply/field-manager.ts",
    "(managedFieldsOf(config) ?? null) !== null",
    "false",
  ),
  mutant(
    "json patch",
    "a JSON patch is bounded",
    "apply/json-patch.ts",
    "const MAX_OPERATIONS = 10_000;",
    "const MAX_OPERATIONS = 100_000;",
  ),
  mutant(
    "strategic patch",
    "a strategic patch deletes elements",
    "apply/strategic-patch.ts",
    '} else if (directive === "delete") {',
    '} else if (directive === "deleted") {',
  ),
  mutant(
    "delete",
    "a deleted object with a finalizer stays",
    "registry/write/delete.ts",
    "if (finalizers.length > 0 ||",
    "if (finalizers.length > 9 ||",
  ),
  mutant(
    "custom resources",
    "a deletion counts in the generation",
    "registry/write/delete.ts",
    "metadata.generation ? { generation: metadata.generation + 1 } : {};",
    "metadata.generation ? {} : {};",
  ),
  mutant(
    "namespaces",
    "a deleted namespace is Terminating",
    "registry/write/delete.ts",
    'phase: "Terminating" } } as KubeObject',
    'phase: "Active" } } as KubeObject',
  ),
  mutant(
    "namespaces",
    "default namespaces cannot be deleted",
    "admission/namespace-lifecycle.ts",
    "this namespace may not be deleted",
    "this namespace must not be deleted",
  ),
  mutant(
    "garbage collection",
    "the foreground waits",
    "registry/loops/garbage-collector.ts",
    'const FOREGROUND = "foregroundDeletion";',
    'const FOREGROUND = "foreground";',
  ),
  mutant(
    "garbage collection",
    "orphans keep living",
    "registry/loops/garbage-collector.ts",
    'const ORPHAN = "orphan";',
    'const ORPHAN = "orphans";',
  ),
  mutant(
    "custom resource schemas",
    "unknown fields are kept where the schema says so",
    "schema/pruning.ts",
    'const isPreserving = schema?.["x-kubernetes-preserve-unknown-fields"] === true;',
    "const isPreserving = false;",
  ),
  mutant(
    "custom resource schemas",
    "null becomes the default where it is not allowed",
    "schema/defaulting.ts",
    "value === null && !schema.nullable ?",
    "value === null && schema.nullable ?",
  ),
  mutant(
    "custom resource schemas",
    "an enum's error names the values",
    "registry/field-error.ts",
    "sentence(`Unsupported value: ",
    "sentence(`Invalid value: ",
  ),
  mutant(
    "custom resource schemas",
    "required fields are required",
    "schema/validation.ts",
    "for (const key of schema.required ?? []) {",
    "for (const key of schema.required?.slice(1) ?? []) {",
  ),
  mutant(
    "custom resource schemas",
    "limits are checked",
    "schema/validation.ts",
    "if (minimum !== undefined) {",
    "if (minimum === 99_999) {",
  ),
  mutant(
    "webhooks",
    "a webhook may fail open",
    "admission/webhooks/webhook-admission.ts",
    'if (failurePolicy === "Ignore") return undefined;',
    'if (failurePolicy === "Ignored") return undefined;',
  ),
  mutant(
    "webhooks",
    "a webhook is called again if needed",
    "admission/webhooks/webhook-admission.ts",
    'reinvocationPolicy === "IfNeeded"',
    'reinvocationPolicy === "Needed"',
  ),
  mutant(
    "webhooks",
    "a webhook's warnings are passed on",
    "admission/webhooks/admission-review.ts",
    "Array.isArray(response.warnings) ?",
    "Array.isArray(response.warning) ?",
  ),
  mutant("access", "escalation needs its verb", "auth/rbac/escalation.ts", 'verb: "escalate",', 'verb: "get",'),
  mutant(
    "list",
    "too large versions say so",
    "registry/status-error.ts",
    '"ResourceVersionTooLarge", message: "Too large',
    '"ResourceVersionTooBig", message: "Too large',
  ),
];
