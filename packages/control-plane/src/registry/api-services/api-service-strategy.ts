import { formatTime } from "setpoint/kinds";
import type { Strategy } from "../../kinds/strategy.js";
import { type ApiService, withAvailable } from "./api-service.js";

/** What is served here is available at once; what another server is to serve is not, since nothing is passed on. */
export const apiServiceStrategy: Partial<Strategy> = {
  prepareCreate: (object, { nowMs }) => withAvailable(object as ApiService, formatTime(nowMs)),
};
