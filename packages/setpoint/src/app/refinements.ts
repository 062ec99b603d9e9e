import { type Kind, kindId } from "../kinds/kind.js";
import type { KubeObject } from "../kinds/object.js";
import type { Resource } from "../kinds/resource.js";
import { isSameJson } from "../kinds/same-json.js";
import { type AdmissionOptions, type AdmissionRequest, type Validator, validating } from "./admission.js";
import { RefusedError } from "./refused-error.js";

type WithSpec = KubeObject & { readonly spec?: unknown };

/** A validator that makes the checks which no server makes: the refinements of a kind's schema. */
// biome-ignore lint/suspicious/noExplicitAny: of any kind
export function refinementValidator(kind: Resource<any>, options: AdmissionOptions = {}): Validator {
  const check = (object: WithSpec, old: WithSpec | undefined, { subresource }: AdmissionRequest): void => {
    // The object of a subresource may be of another kind.
    if (subresource) return;
    const { problems } = kind.declaration.refinements!;
    // As servers do: what was wrong before and stays as it was holds up no other change.
    if (old && isSameJson(object.spec, old.spec)) return;
    const before = old ? problems(old) : [];
    const wrong = problems(object).filter((problem) => !before.some((each) => isSameJson(each, problem)));
    if (wrong.length === 0) return;
    const { name = "" } = object.metadata;
    const causes = wrong.map(({ path, message }) => ({ reason: "FieldValueInvalid", message, field: path }));
    const list = wrong.map(({ path, message }) => `${path}: ${message}`).join(", ");
    const message = `${kind.kind}.${kind.group} "${name}" is invalid: ${list}`;
    throw new RefusedError(422, "Invalid", message, { name, group: kind.group, kind: kind.kind, causes });
  };
  return validating(kind as Kind<WithSpec>, {
    ...options,
    create: (object, request) => check(object, undefined, request),
    update: check,
  });
}

/** Says that nobody makes the checks of a kind that only its schema library knows. */
export function warnOfUnchecked(who: string, kind: Kind): void {
  const { declaration } = kind as Partial<Resource>;
  if (!declaration?.refinements) return;
  const where = declaration.refinements.paths.join(", ");
  const cure = "state them as CEL rules (k8s.rule), or have an app with validating(…) of the kind make them";
  const warning = `${who}: no server checks refinements of ${kindId(kind)}: ${where}; ${cure}`;
  process.emitWarning(warning, { code: "SETPOINT_REFINEMENT_UNCHECKED" });
}
