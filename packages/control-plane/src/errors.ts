import { defineErrors } from "setpoint/errors";

/** Every error code of the package `@setpoint/control-plane`. */
export const controlPlaneErrors = defineErrors({
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
