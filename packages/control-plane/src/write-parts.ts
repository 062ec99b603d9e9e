import type { Clock, Random } from "setpoint/clock";
import { DefaultAdmission, type DefaultAdmissionOptions } from "./admission/default-admission.js";
import { crdConversion } from "./admission/webhooks/crd-conversion.js";
import { type AuthEndpointOptions, authEndpoints } from "./auth/auth-endpoints.js";
import type { RbacAuthorizer } from "./auth/rbac/rbac-authorizer.js";
import { podStreams } from "./exec/pod-streams.js";
import type { ExecHandler } from "./exec/scripted-answer.js";
import type { WriteParts } from "./registry/write-side.js";

export interface WritePartsOptions extends DefaultAdmissionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly rbac: RbacAuthorizer;
  readonly auth: AuthEndpointOptions;
  readonly exec?: ExecHandler;
}

/** What a control plane adds to its registry for the sake of writes. Disposing of it ends what admission follows. */
export function writeParts(options: WritePartsOptions): WriteParts & Disposable {
  const admission = new DefaultAdmission(options);
  const { rbac: authorizer, exec } = options;
  return {
    admission: admission.plugins,
    conversion: crdConversion(admission.caller, options.random),
    endpoints: new Map([...authEndpoints(options.auth), ...podStreams({ authorizer, ...(exec && { exec }) })]),
    [Symbol.dispose]: () => admission[Symbol.dispose](),
  };
}
