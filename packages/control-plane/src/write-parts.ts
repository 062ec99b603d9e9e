import type { Clock, Random } from "setpoint/clock";
import { admissionStrategies } from "./admission/admission-strategies.js";
import { DefaultAdmission, type DefaultAdmissionOptions } from "./admission/default-admission.js";
import { PolicyTypeChecking } from "./admission/loops/policy-type-checking.js";
import { QuotaStatus } from "./admission/loops/quota-status.js";
import { crdConversion } from "./admission/webhooks/crd-conversion.js";
import { type AuthEndpointOptions, authEndpoints } from "./auth/auth-endpoints.js";
import { authStrategies } from "./auth/auth-strategies.js";
import type { RbacAuthorizer } from "./auth/rbac/rbac-authorizer.js";
import { podStreams } from "./exec/pod-streams.js";
import type { ExecHandler } from "./exec/scripted-answer.js";
import type { LoopEnvironment, RegistryLoop } from "./registry/loops/work-loop.js";
import type { WriteParts } from "./registry/write-side.js";

export interface WritePartsOptions extends DefaultAdmissionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly rbac: RbacAuthorizer;
  readonly auth: AuthEndpointOptions;
  readonly exec?: ExecHandler;
}

/** Strategies and loops of the layers above the registry. */
export const upperLayers = {
  strategies: { ...authStrategies, ...admissionStrategies },
  loops: (environment: LoopEnvironment): readonly RegistryLoop[] => [
    new QuotaStatus(environment),
    new PolicyTypeChecking(environment),
  ],
};

/** What a control plane adds to its registry for writes. Disposing it ends admission's watches. */
export function writeParts(options: WritePartsOptions): WriteParts & Disposable {
  const admission = new DefaultAdmission(options);
  const { rbac: authorizer, exec } = options;
  return {
    ...upperLayers,
    admission: admission.plugins,
    conversion: crdConversion(admission.caller, options.random),
    endpoints: new Map([...authEndpoints(options.auth), ...podStreams({ authorizer, ...(exec && { exec }) })]),
    [Symbol.dispose]: () => admission[Symbol.dispose](),
  };
}
