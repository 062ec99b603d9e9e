import { invalidValue, required } from "../../../api/field-error.js";
import { isArray } from "../../../api/json.js";
import { internal } from "../internal-struct.js";
import { between, isEmpty, neededWith, object, oneOf, pointed, struct, subdomain, text } from "../rule.js";
import { localhostProfile } from "../storage/path-rules.js";

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

const MAX_SPEC_BYTES = 64 * 1024;
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_DOMAIN = /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?$/;

/** `domain\user`, or only a user. */
function userNameComplaints(name: string): readonly string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  if (/[\u0000-\u001f\u007f]/.test(name)) return ["runAsUserName cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const [domain, user = ""] = parts.length === 2 ? parts : [undefined, name];
  const complaints: string[] = [];
  if ((domain ?? "").length >= 256) complaints.push("runAsUserName's Domain length must be under 256 characters");
  if (domain !== undefined && !NETBIOS.test(domain) && !DNS_DOMAIN.test(domain)) {
    complaints.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") complaints.push("runAsUserName's User cannot be empty");
  else if (user.length > 104) complaints.push("runAsUserName's User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) complaints.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    complaints.push(String.raw`runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`);
  }
  return complaints;
}

/** The Windows options of a container, or of the pod. */
export const windowsOptions = struct({
  gmsaCredentialSpecName: pointed(subdomain),
  gmsaCredentialSpec: pointed(
    text((spec) => {
      if (spec === "") return ["gmsaCredentialSpec cannot be an empty string"];
      return Buffer.byteLength(spec) > MAX_SPEC_BYTES ? ["gmsaCredentialSpec size must be under 64 KiB"] : [];
    }),
  ),
  runAsUserName: pointed(text(userNameComplaints)),
});

export const securityContext = struct(
  {
    runAsUser: identifier,
    runAsGroup: identifier,
    procMount: pointed(oneOf("Default", "Unmasked")),
    seccompProfile,
    windowsOptions,
  },
  (context, path, errors) => {
    if (context.allowPrivilegeEscalation !== false) return;
    const refuse = (why: string): number =>
      errors.push(invalidValue(path, internal("core.SecurityContext", context), why));
    if (context.privileged === true) refuse("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    const added = object(context.capabilities).add;
    if (isArray(added) && added.includes("CAP_SYS_ADMIN")) {
      refuse("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  },
);

/** An AppArmor profile's type, and its path on the node for Localhost. */
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
