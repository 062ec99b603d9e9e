import { duplicate, invalidValue, required } from "../../../api/field-error.js";
import type { JsonObject } from "../../../api/json.js";
import {
  all,
  label1123,
  list,
  needed,
  oneOf,
  port,
  portNameComplaints,
  protocol,
  type Rule,
  type StructRule,
  struct,
} from "../rule.js";
import { claimNames } from "../storage/claim-name-rules.js";
import { env, envFrom } from "./env-rules.js";
import { volumeDevices, volumeMounts } from "./mount-rules.js";
import { resourceRequirements } from "./resource-rules.js";
import { resizePolicy } from "./restart-rules.js";
import { appArmor, securityContext } from "./security-rules.js";

const ports: Rule = (value, path, errors) => {
  const names = new Set<string>();
  for (const [index, item] of list(value).entries()) {
    const at = `${path}[${index}]`;
    const name = String(item.name ?? "");
    const complaints = name === "" ? [] : portNameComplaints(name);
    for (const why of complaints) errors.push(invalidValue(`${at}.name`, name, why));
    if (name !== "" && complaints.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (!item.containerPort) errors.push(required(`${at}.containerPort`));
    else port(item.containerPort, `${at}.containerPort`, errors);
    if (item.hostPort) port(item.hostPort, `${at}.hostPort`, errors);
    needed(protocol)(item.protocol, `${at}.protocol`, errors);
  }
};

const head = struct({
  name: needed(label1123),
  image: needed(),
  terminationMessagePolicy: needed(oneOf("File", "FallbackToLogsOnError")),
  ports,
  env,
  envFrom,
});
const pullPolicy = needed(oneOf("Always", "IfNotPresent", "Never"));
const security = all(securityContext, appArmor);

/** Rules for every type of container. */
export function container(volumes: ReadonlySet<string>, pod: JsonObject): StructRule {
  const claims = claimNames(pod);
  return (value, path, errors) => {
    head(value, path, errors);
    volumeMounts(value, volumes)(value.volumeMounts, `${path}.volumeMounts`, errors);
    volumeDevices(value, volumes)(value.volumeDevices, `${path}.volumeDevices`, errors);
    pullPolicy(value.imagePullPolicy, `${path}.imagePullPolicy`, errors);
    resourceRequirements(value.resources, `${path}.resources`, errors);
    claims(value.resources, `${path}.resources`, errors);
    resizePolicy(value.resizePolicy, pod.restartPolicy, `${path}.resizePolicy`, errors);
    security(value.securityContext, `${path}.securityContext`, errors);
  };
}
