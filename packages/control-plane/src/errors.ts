import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/control-plane`. */
export const controlPlaneErrors = defineErrors({
  CERTIFICATE_AUTHORITY_INVALID: {
    summary: "The kept certificate of the control plane's authority and its key do not belong together.",
    cure: "Restore both files from one copy, or remove both: new ones are made, and clients need the new kubeconfig.",
  },
  CERTIFICATE_REQUEST_INVALID: {
    summary: "A certificate signing request cannot be read or signed.",
    cure: "The message says what is wrong; make the request anew, for example with openssl req.",
  },
  CONTROL_PLANE_BUG: {
    summary: "The control plane contradicts itself.",
    cure: "Report it with the message: no input should lead here.",
  },
  CRON_SCHEDULE_INVALID: {
    summary: "The schedule of a CronJob cannot be read.",
    cure: "Write five fields, @hourly and the like, or @every with a duration; the message names the part.",
  },
  FILE_IS_LINK: {
    summary: "A file that holds secrets is a symbolic link.",
    cure: "Put the file itself there: the control plane changes the rights of no file elsewhere.",
  },
  LOOP_REFUSED: {
    summary: "The API refused a write of one of the control plane's own loops, which tries again.",
    cure: "The message is the API's answer; a webhook or a policy that refuses the control plane's writes is the usual reason.",
  },
  SHELL_NOT_SIMULATED: {
    summary: "A command for a simulated container uses a part of the shell that is not simulated.",
    cure: "Use words, quotes, variables, ;, && and two bars alone.",
  },
  SPDY_INVALID: {
    summary: "A client of exec, attach or port-forward sent more than the SPDY connection takes.",
    cure: "The message names the limit; correct the client.",
  },
  STAGE_INVALID: {
    summary: "The template of a stage calls a function that is not known.",
    cure: "The message names the function; correct the template.",
  },
  STORAGE_CLOSED: {
    summary: "The storage was closed before the request.",
    cure: "Nothing to do: the control plane is stopping. Ask again once it runs.",
  },
  STORAGE_CONFLICT: {
    summary: "An object has changed since the write to it was computed.",
    cure: "Read the object again and repeat the change.",
  },
  STORAGE_DAMAGED: {
    summary: "The data directory holds a file that is damaged.",
    cure: "Restore the directory from a copy, or remove it to start empty.",
  },
  STORAGE_DISK_FULL: {
    summary: "The disk of the data directory is full; the write was undone.",
    cure: "Make room and repeat the write. Reads and watches go on meanwhile.",
  },
  STORAGE_EXPIRED: {
    summary: "The revision asked for is older than what is remembered.",
    cure: "List again, and watch from the resourceVersion of that list.",
  },
  STORAGE_FAILED: {
    summary: "The journal could not be written or synced; the write was undone, or its fate is not known.",
    cure: "Look at the disk, then start the control plane anew: it reads back what was kept.",
  },
  STORAGE_LOCKED: {
    summary: "Another process has the data directory open.",
    cure: "Stop that process, or choose another directory.",
  },
  STORAGE_NOT_EMPTY: {
    summary: "A snapshot was to be restored into a data directory that holds objects already.",
    cure: "Choose another directory, or remove what is in this one.",
  },
  STORAGE_TOO_LARGE: {
    summary: "An object is larger than the control plane keeps.",
    cure: "Split it, or keep what is large elsewhere. Custom resources have 1.5 MiB, as on a real server.",
  },
  STORAGE_UNREADABLE: {
    summary: "This user may not read and write the data directory.",
    cure: "Give it the permission, or choose another directory.",
  },
  STORAGE_VERSION: {
    summary: "The data directory was written by another program, or by a later version of Setpoint.",
    cure: "Use the version that wrote it, or choose another directory.",
  },
});
