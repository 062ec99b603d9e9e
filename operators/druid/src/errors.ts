import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/druid`. */
export const druidErrors = defineErrors({
  DRUID_CREDENTIALS_MISSING: {
    summary: "The Secret with Druid's user or certificate authority is not there, or lacks a key.",
    cure: "Create the Secret or the key that the message names; it is looked at again when it changes.",
  },
  DRUID_REFUSED: {
    summary: "Druid answered a request with an error.",
    cure: "Read the answer in the message: most often an ingestion spec or a configuration that this Druid does not take.",
  },
  DRUID_UNREACHABLE: {
    summary: "Druid did not answer, or not in time.",
    cure: "Look at the router's pods and Service. From outside of the cluster, forward a port and give `--druid-url`.",
  },
});
