import { forbiddenField, invalidValue, required } from "../../../api/field-error.js";
import { isObject } from "../../../api/json.js";
import {
  list,
  needed,
  nonNegative,
  oneOf,
  port,
  portReference,
  type Rule,
  type StructRule,
  struct,
  text,
} from "../rule.js";

const headerName = text((name) =>
  /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ],
);

const HANDLERS: Readonly<Record<string, Rule>> = {
  exec: struct({ command: needed() }),
  httpGet: struct(
    {
      path: needed(),
      port: (value, path, errors) => portReference(value ?? 0, path, errors),
      scheme: oneOf("HTTP", "HTTPS"),
    },
    ({ httpHeaders }, path, errors) => {
      for (const header of list(httpHeaders)) headerName(header.name, `${path}.httpHeaders`, errors);
    },
  ),
  tcpSocket: struct({ port: (value, path, errors) => portReference(value ?? 0, path, errors) }),
  grpc: struct({ port }),
  sleep: () => {},
};

/** Exactly one handler. */
const handler: StructRule = (value, path, errors) => {
  const present = Object.keys(HANDLERS).filter((name) => isObject(value[name]));
  for (const [index, name] of present.entries()) {
    if (index > 0) errors.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 handler type"));
    else HANDLERS[name]!(value[name], `${path}.${name}`, errors);
  }
  if (present.length === 0) errors.push(required(path, "must specify a handler type"));
};

function probe(...more: readonly StructRule[]): Rule {
  const numbers = struct({
    initialDelaySeconds: nonNegative,
    timeoutSeconds: nonNegative,
    periodSeconds: nonNegative,
    successThreshold: nonNegative,
    failureThreshold: nonNegative,
  });
  return struct({}, handler, numbers as StructRule, grace, ...more);
}

const grace: StructRule = ({ terminationGracePeriodSeconds: seconds }, path, errors) => {
  if (typeof seconds === "number" && seconds <= 0) {
    errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, seconds, "must be greater than 0"));
  }
};

const onlyOneSuccess: StructRule = ({ successThreshold }, path, errors) => {
  if (successThreshold !== 1) errors.push(invalidValue(`${path}.successThreshold`, successThreshold ?? 0, "must be 1"));
};

const noGrace: StructRule = ({ terminationGracePeriodSeconds: seconds }, path, errors) => {
  if (seconds === undefined || seconds === null) return;
  errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, seconds, "must not be set for readinessProbes"));
};

/** Lifecycle handlers and probes. */
export const lifetime: Readonly<Record<string, Rule>> = {
  lifecycle: struct({ postStart: struct({}, handler), preStop: struct({}, handler) }),
  livenessProbe: probe(onlyOneSuccess),
  readinessProbe: probe(noGrace),
  startupProbe: probe(onlyOneSuccess),
};
