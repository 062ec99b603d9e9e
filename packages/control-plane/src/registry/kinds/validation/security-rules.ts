import { isArray } from "../../../schema/json.js";
import { invalidValue, required } from "../../field-error.js";
import { localhostProfile } from "./path-rules.js";
import { between, isEmpty, neededWith, object, oneOf, pointed, struct } from "./rule.js";

const MAX_ID = 2_147_483_647;
export const identifier = pointed(between(0, MAX_ID));

export const seccompProfile = struct(
  {
    type: (value, path, errors) => {
      if (isEmpty(value)) errors.push(required(path, "type is required when seccompProfile is set"));
      else oneOf("Localhost", "RuntimeDefault", "Unconfined")(value, path, errors);
    },
  },
  localhostProfile("seccomp"),
);

export const securityContext = struct(
  { runAsUser: identifier, runAsGroup: identifier, procMount: pointed(oneOf("Default", "Unmasked")), seccompProfile },
  (context, path, errors) => {
    if (context.allowPrivilegeEscalation !== false) return;
    const refuse = (why: string): number => errors.push(invalidValue(path, context, why));
    if (context.privileged === true) refuse("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    const added = object(context.capabilities).add;
    if (isArray(added) && added.includes("CAP_SYS_ADMIN")) {
      refuse("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  },
);

/** A profile's type, and its place on the node where it has one. */
export const appArmor = struct({
  appArmorProfile: struct(
    {
      type: neededWith(
        "type is required when appArmorProfile is set",
        oneOf("Localhost", "RuntimeDefault", "Unconfined"),
      ),
    },
    localhostProfile("AppArmor"),
  ),
});
