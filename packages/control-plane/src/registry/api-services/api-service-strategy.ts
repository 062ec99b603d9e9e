import type { KubeObject } from "setpoint";
import type { Strategy } from "../strategy.js";
import { timestamp } from "../write/object-layout.js";
import type { ApiService } from "./api-service.js";

/** What is served here is available at once; what another server is to serve is not, since nothing is passed on. */
export const apiServiceStrategy: Partial<Strategy> = {
  prepareCreate: (object, { nowMs }) => {
    if ((object as ApiService).spec?.service !== undefined) return object;
    const available = {
      type: "Available",
      status: "True",
      lastTransitionTime: timestamp(nowMs),
      reason: "Local",
      message: "Local APIServices are always available",
    };
    return { ...object, status: { conditions: [available] } } as KubeObject;
  },
};
