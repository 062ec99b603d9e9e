import { defineErrors } from "./error.js";

/** Every error code of the package `setpoint`, by area. A test holds this list and `docs/errors.md` together. */
export const errorRegistry = defineErrors({
  ABORTED: {
    summary: "The operation was ended by its AbortSignal.",
    cure: "Nothing to do: the caller asked for it. The signal's reason is the error's cause.",
  },
  DURATION_INVALID: {
    summary: "An option that takes a length of time was given something else.",
    cure: "Write a number with a unit (250ms, 10s, 5m, 1.5h) or a number of milliseconds; it must not be negative.",
  },
  KIND_ID_INVALID: {
    summary: "A kind was named by something other than group/version/Kind.",
    cure: "Write web.example.com/v1/Website, or v1/Pod for a kind of the core group; the kind begins with a capital.",
  },
  KIND_INVALID: {
    summary: "The declaration of a kind contradicts itself or its schema.",
    cure: "The message names the option and the path; correct either.",
  },
  SCHEMA_INEXPRESSIBLE: {
    summary: "A schema says something that a CustomResourceDefinition cannot.",
    cure: "The message names the path. Write that part differently, or mark it k8s.preserveUnknownFields to leave it unchecked.",
  },
  OBJECT_INVALID: {
    summary: "An object does not fit the schema of its kind.",
    cure: "The message lists each field with what is wrong with it.",
  },
  CONVERSION_MISSING: {
    summary: "An object was to be converted to a version of its kind that is not declared, or has no conversion.",
    cure: "Declare the version in the kind's `versions`, with `up` and `down`.",
  },
  CRD_REFUSED: {
    summary: "A CustomResourceDefinition cannot replace the installed one.",
    cure: "The message names what stands against it. Keep versions that objects are stored in, and never change the scope.",
  },
  CRD_INCOMPATIBLE: {
    summary: "A CustomResourceDefinition would break objects or clients of the installed one.",
    cure: "Make the change in a new version, or install with allowIncompatible if nothing depends on the old form.",
  },
  CRD_NOT_ESTABLISHED: {
    summary: "The server did not begin to serve a CustomResourceDefinition.",
    cure: "The message has the server's conditions; names that are taken by another definition are the usual reason.",
  },
  KIND_NOT_SERVED: {
    summary: "The server does not serve a kind.",
    cure: "Install its CustomResourceDefinition, or correct the group, version or kind; the message lists what is served.",
  },
  DISCOVERY_FAILED: {
    summary: "The server's answer to a question about its kinds made no sense.",
    cure: "The message has the path and the answer's status; check that the address is an API server's.",
  },
  QUANTITY_INVALID: {
    summary: "A text is no quantity.",
    cure: "Write a number with one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei, or an exponent.",
  },
  TIME_INVALID: {
    summary: "A text is no time of the Kubernetes API.",
    cure: "Write RFC 3339: 2026-01-31T12:00:00Z, with six digits after the seconds for a MicroTime.",
  },
  INT_OR_STRING_INVALID: {
    summary: "A value that is a number or a percentage is something else.",
    cure: 'Write a number, or a percentage such as "25%".',
  },
  LABEL_SELECTOR_INVALID: {
    summary: "A label selector cannot be read.",
    cure: "The message names the term; see the syntax of kubectl -l.",
  },
  FIELD_SELECTOR_INVALID: {
    summary: "A field selector cannot be read.",
    cure: "Write field=value or field!=value, separated by commas; escape comma, equals sign and backslash in values.",
  },
  RESOURCE_VERSION_INVALID: {
    summary: "A resourceVersion is no decimal number.",
    cure: "Compare only versions that a server gave; a server that gives others does not follow the Kubernetes API.",
  },
});

export type ErrorCode = keyof typeof errorRegistry;
