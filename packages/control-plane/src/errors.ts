import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/control-plane`. */
export const controlPlaneErrors = defineErrors({
  CERTIFICATE_AUTHORITY_INVALID: {
    summary: "The CA certificate of the control plane does not match its key.",
    cure: "Restore both files from one backup. Or remove both: the control plane makes new ones, and clients need the new kubeconfig.",
  },
  CERTIFICATE_REQUEST_INVALID: {
    summary: "A certificate signing request is malformed, or cannot be signed.",
    cure: "Correct what the message names and make a new request, for example with openssl req.",
  },
  CONTROL_PLANE_BUG: {
    summary: "The control plane has a bug: an internal check failed.",
    cure: "Report it with the message.",
  },
  CRON_SCHEDULE_INVALID: {
    summary: "The schedule of a CronJob is invalid.",
    cure: "Write five fields, a name such as @hourly, or @every with a duration. The message names the wrong part.",
  },
  FILE_IS_LINK: {
    summary: "A file that holds secrets is a symbolic link.",
    cure: "Put the file itself there. The control plane does not follow links, because it changes the mode of this file.",
  },
  LOOP_REFUSED: {
    summary: "The API refused a write of one of the control plane's own controllers, which retries.",
    cure: "Read the API's answer in the message. The usual reason is a webhook or policy that denies the control plane's writes.",
  },
  SHELL_NOT_SIMULATED: {
    summary: "A command for a simulated container uses shell syntax that the simulation lacks.",
    cure: "Use only words, quotes, variables, `;`, `&&` and logical or.",
  },
  SPDY_INVALID: {
    summary: "A client of exec, attach or port-forward exceeded a limit of the SPDY connection.",
    cure: "Correct the client. The message names the limit.",
  },
  STAGE_INVALID: {
    summary: "The template of a stage calls an unknown function.",
    cure: "Correct the template. The message names the function.",
  },
  STORAGE_CLOSED: {
    summary: "The storage is closed.",
    cure: "The control plane is stopping. Repeat the request when it runs again.",
  },
  STORAGE_CONFLICT: {
    summary: "An object has changed since the write to it was computed.",
    cure: "Read the object again and repeat the change.",
  },
  STORAGE_DAMAGED: {
    summary: "A file of the data directory is damaged.",
    cure: "Restore the directory from a backup, or remove it to start empty.",
  },
  STORAGE_DISK_FULL: {
    summary: "The disk of the data directory is full. The control plane undid the write.",
    cure: "Free some space and repeat the write. Reads and watches continue meanwhile.",
  },
  STORAGE_EXPIRED: {
    summary: "The requested revision is older than the history that the storage keeps.",
    cure: "List again, and watch from the resourceVersion of that list.",
  },
  STORAGE_FAILED: {
    summary: "Writing or syncing the journal failed. The write is undone, or its result is unknown.",
    cure: "Check the disk, then restart the control plane: it reads back what is on disk.",
  },
  STORAGE_LOCKED: {
    summary: "Another process has the data directory open.",
    cure: "Stop that process, or choose another directory.",
  },
  STORAGE_NOT_EMPTY: {
    summary: "The data directory already has objects, so a snapshot cannot be restored into it.",
    cure: "Choose another directory, or empty this one.",
  },
  STORAGE_TOO_LARGE: {
    summary: "An object is larger than the control plane stores.",
    cure: "Split the object, or keep large data elsewhere. The limit for custom resources is 1.5 MiB, as on a real server.",
  },
  STORAGE_UNREADABLE: {
    summary: "This user may not read and write the data directory.",
    cure: "Grant the permission, or choose another directory.",
  },
  STORAGE_VERSION: {
    summary: "Another program, or a later version of Setpoint, wrote the data directory.",
    cure: "Use the version that wrote it, or choose another directory.",
  },
});
