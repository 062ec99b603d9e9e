import { defineErrors } from "setpoint";

/** Every error code of the package `@setpoint/control-plane`. */
export const controlPlaneErrors = defineErrors({
  CREDENTIALS_UNREADABLE: {
    summary: "A certificate or key that the control plane keeps cannot be read, or does not fit its other half.",
    cure: "Restore the file that the message names, or remove the whole folder: new ones are made, and old kubeconfigs end.",
  },
});
