import { formatTime } from "setpoint/kinds";
import type { Strategy } from "../../kinds/strategy.js";
import { type ApiService, withAvailable } from "./api-service.js";

/** Local APIServices are available at once. Others are not: this server proxies to no other server. */
export const apiServiceStrategy: Partial<Strategy> = {
  prepareCreate: (object, { nowMs }) => withAvailable(object as ApiService, formatTime(nowMs)),
};
