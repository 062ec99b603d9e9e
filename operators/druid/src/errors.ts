import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/druid`. */
export const druidErrors = defineErrors({
  DRUID_CREDENTIALS_MISSING: {
    summary: "The Secret with Druid's user or certificate authority does not exist, or lacks a key.",
    cure: "Create the Secret or the key that the message names. The operator reconciles when the Secret changes.",
  },
  DRUID_REFUSED: {
    summary: "Druid answered a request with an error.",
    cure: "Read the answer in the message. Most often this Druid does not accept an ingestion spec or a configuration.",
  },
  DRUID_UNREACHABLE: {
    summary: "Druid did not answer in time.",
    cure: "Look at the router's pods and Service. From outside the cluster, forward a port and pass `--druid-url`.",
  },
});
