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
  CLOCK_RUNAWAY: {
    summary: "Timers of a virtual clock make new ones that are due at once, without end.",
    cure: "Find the loop that sleeps for no time at all; the message has the virtual time at which it runs.",
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
  TRANSPORT_REFUSED: {
    summary: "No connection to the server could be made; nothing was sent.",
    cure: "Check that the server runs and that its address, port, proxy and name resolution are right; the cause says what failed.",
  },
  TRANSPORT_BROKEN: {
    summary:
      "The connection ended or spoke no HTTP before the response was complete; the server may have acted on the request.",
    cure: "Reads are tried again by themselves. For a write, read the object to see whether it took effect.",
  },
  TRANSPORT_TIMEOUT: {
    summary: "The server did not answer, or fell silent, for longer than allowed.",
    cure: "Check the server's load and the network; raise the limit (headTimeout, idleTimeout) where such waits are normal.",
  },
  TRANSPORT_UNTRUSTED: {
    summary: "The server's certificate is not trusted, or not for this name.",
    cure: "Put the right CA into certificate-authority(-data), or the name that the certificate is for into tls-server-name.",
  },
  REQUEST_INVALID: {
    summary: "A request could not be made from what was given.",
    cure: "Give what the message names: a name, a namespace for a namespaced kind, a URL or header without control characters.",
  },
  RESPONSE_INVALID: {
    summary: "The answer is not what a Kubernetes API server sends.",
    cure: "Look at the start of the answer in the message: often it is a proxy, a login page or another service that answered.",
  },
  STREAM_TRUNCATED: {
    summary: "A stream of lines ended within a line.",
    cure: "Start the watch again from the last resourceVersion; an informer does so by itself.",
  },
  STREAM_LINE_TOO_LONG: {
    summary: "A line of a stream is longer than the limit.",
    cure: "Raise maxLineBytes if objects of that size are wanted; otherwise look at what sends them.",
  },
  KUBECONFIG_NOT_FOUND: {
    summary: "A kubeconfig file that was named does not exist.",
    cure: "Correct the path in the option or in KUBECONFIG.",
  },
  KUBECONFIG_INVALID: {
    summary: "A kubeconfig has a wrong or missing value; the message names the file and the field.",
    cure: "Correct that field; `kubectl config view` shows how kubectl reads the file.",
  },
  CLUSTER_NOT_CHOSEN: {
    summary: "No cluster was named, and none is ever guessed.",
    cure: "Pass a kubeconfig, set KUBECONFIG, run in a pod, or start an embedded control plane with `npx setpoint up`.",
  },
  CREDENTIALS_FAILED: {
    summary: "Credentials could not be had: a token file could not be read or an exec plugin failed.",
    cure: "Run the plugin or read the file by hand as the message shows it; log in again with your provider's tool.",
  },
  API_BAD_REQUEST: {
    summary: "The server did not understand the request (400).",
    cure: "Read the message: a malformed object, selector or option.",
  },
  API_UNAUTHORIZED: {
    summary: "The server does not accept the credentials (401).",
    cure: "Renew the token or certificate of the kubeconfig's user.",
  },
  API_FORBIDDEN: {
    summary: "The user may not do this (403).",
    cure: "Grant the verb on the resource with a Role and a binding; the message names both.",
  },
  API_NOT_FOUND: {
    summary: "The object does not exist (404).",
    cure: "Check name and namespace; `find` returns undefined instead of rejecting.",
  },
  API_NOT_SERVED: {
    summary: "The server does not serve this path (404): the kind is not installed, or not in this version.",
    cure: "Install the CRD, or use a version that `kubectl api-resources` lists.",
  },
  API_METHOD_NOT_ALLOWED: {
    summary: "The resource does not support the verb (405).",
    cure: "See the verbs of the resource in `kubectl api-resources -o wide`.",
  },
  API_UNSUPPORTED_MEDIA_TYPE: {
    summary: "The server does not speak the format asked for or sent (406, 415).",
    cure: "Use another patch type: custom resources take no strategic merge patches.",
  },
  API_CONFLICT: {
    summary: "The object has changed, or another manager owns a field (409).",
    cure: "Read the object again and repeat the change, or apply with force.",
  },
  API_ALREADY_EXISTS: {
    summary: "An object of this name exists (409).",
    cure: "Use another name, generateName, or apply in place of create.",
  },
  API_EXPIRED: {
    summary: "The resourceVersion or continue token is too old (410).",
    cure: "List again without it.",
  },
  API_TOO_LARGE: {
    summary: "The request is larger than the server takes (413).",
    cure: "Make the object smaller: the limit is 3 MiB for a request and about 1.5 MiB for a stored object.",
  },
  API_INVALID: {
    summary: "The object does not pass validation (422).",
    cure: "Correct the fields that the message lists; `fieldErrors(error)` gives them one by one.",
  },
  API_TOO_MANY_REQUESTS: {
    summary: "The server is overloaded, or a disruption budget forbids the eviction (429).",
    cure: "Requests are tried again by themselves within limits; send fewer, or wait for the budget.",
  },
  API_INTERNAL: {
    summary: "The server failed (500).",
    cure: "See the server's log; a webhook that fails is named in the message.",
  },
  API_UNAVAILABLE: {
    summary: "The server, or what it depends on, is not ready (502, 503).",
    cure: "Wait for it, or look at the aggregated API service that the message names.",
  },
  API_TIMEOUT: {
    summary: "The server could not complete the request in time (504, or 500 ServerTimeout).",
    cure: "Try again; for a write, read the object first to see whether it took effect.",
  },
  API_FAILED: {
    summary: "The server answered with an error of no known kind.",
    cure: "Read the message; status and reason are the server's.",
  },
  INFORMER_NOT_SYNCED: {
    summary: "An informer did not hold its initial list in time.",
    cure: "Read the last error that the message shows: most often the kind is not installed or its list is forbidden.",
  },
  INFORMER_STOPPED: {
    summary: "An informer was used after it was stopped.",
    cure: "Keep a share of it (informers.for) for as long as it is used.",
  },
  INFORMER_KIND_NOT_SERVED: {
    summary: "The server does not serve the kind; the informer waits for it.",
    cure: "Install its CustomResourceDefinition, or correct its group, version or plural. It is picked up when it appears.",
  },
  INFORMER_KIND_UNCLEAR: {
    summary: "The server answers 404 for a kind, but its discovery does not say that the kind is gone.",
    cure: "Check what stands between here and the server. Nothing is taken for deleted meanwhile.",
  },
  INFORMER_STREAM_LIST_STALLED: {
    summary: "A streamed list did not end; this server's lists are asked for in pages from now on.",
    cure: "Nothing to do. A proxy that holds back bookmarks, or an old server, is the usual reason.",
  },
  INFORMER_OBJECT_REFUSED: {
    summary: "The server sent an object of another kind, or without a name; it was passed over.",
    cure: "Check what stands between here and the server, and the conversion webhook of the kind.",
  },
  INFORMER_BODY_UNREADABLE: {
    summary: "A stored object is not JSON.",
    cure: "The server sent something that only looked like JSON. Report it with the server's version.",
  },
  INFORMER_HANDLER_FAILED: {
    summary: "A handler threw; the step counts as taken.",
    cure: "See the cause. A handler that can fail should put the key into a queue and fail there.",
  },
  INFORMER_INDEX_FAILED: {
    summary: "An index function threw; the object is in no place of that index.",
    cure: "See the cause: the function must take every object of its kind.",
  },
  INFORMER_INDEX_TAKEN: {
    summary: "An index of this name exists with another function.",
    cure: "Give the index another name, or pass the very same function.",
  },
  INFORMER_INDEX_UNKNOWN: {
    summary: "There is no index of this name.",
    cure: "Declare it: `scoped(Kind, { indexes: { name: … } })`; of an informer of one's own, with addIndex before it is read.",
  },
  INFORMER_DELETE_NOT_SEEN: {
    summary: "An own delete was not seen by the informer in time; reads may still show the object.",
    cure: "Check the informer's status. A finalizer keeps an object for as long as it needs.",
  },
  CONTROLLER_INVALID: {
    summary: "A controller was declared in a way that cannot run.",
    cure: "Change the option that the message names.",
  },
  CONTROLLER_STOPPED: {
    summary: "A controller ended what was under way because it is stopping.",
    cure: "Nothing to do: the process that runs next takes the work up again.",
  },
  CLUSTER_UNKNOWN: {
    summary: "A controller names a cluster that its process does not know.",
    cure: "Give the manager a client for the cluster under that name.",
  },
  KIND_NOT_DECLARED: {
    summary: "A reconciler used a kind that its controller does not declare.",
    cure: "Add the kind to `uses`, or to `owns` where the controller makes its objects.",
  },
  SCOPE_NOT_WATCHED: {
    summary: "A reconciler read or made objects that its controller does not watch.",
    cure: 'Declare the kind with its namespaces: `scoped(Secret, { namespaces: ["infra"] })`, or `"all"`; give children the labels that its selector asks for.',
  },
  NAMESPACE_MISSING: {
    summary: "A namespaced object was read or written without saying where, from an object that is in no namespace.",
    cure: "Give the namespace in the options of the read or in the metadata of the object.",
  },
  DEPENDENCY_ABSENT: {
    summary: "An object that a reconciler cannot do without is not there.",
    cure: "Create it; the reconcile runs again by itself. To go on without it, use `ctx.find`.",
  },
  CHILD_NOT_OWNED: {
    summary: "A controller would have to take over an object that belongs to somebody else.",
    cure: 'Choose another name, delete the object, or pass `existing: "adopt"` where nobody controls it.',
  },
  CHILD_TERMINATING: {
    summary: "A child is being deleted and cannot be applied until it is gone.",
    cure: "Nothing to do: the reconcile runs again when it is gone. If it never goes, look at its finalizers.",
  },
  RUN_OVER: {
    summary: "A reconciler used its context after its run had ended.",
    cure: "Await everything that the reconciler starts.",
  },
  RECONCILE_TIMEOUT: {
    summary: "A reconcile, or a step of a watcher, took longer than `timeout` allows.",
    cure: "Find out what it waits for, pass `ctx.signal` on, return `waitFor` instead of waiting, or raise `timeout`.",
  },
  RECONCILE_HUNG: {
    summary: "A reconcile, or a step of a watcher, goes on although its signal was aborted.",
    cure: "Pass `ctx.signal` to everything that it awaits; until it ends, its object is left alone.",
  },
  CONDITIONS_MISSING: {
    summary: "A reconciler set a condition on a kind whose status has no conditions.",
    cure: "Add conditions to the status schema of the kind and install its CustomResourceDefinition, or use ctx.status for another field.",
  },
  OUTCOME_INVALID: {
    summary: "A reconciler returned something that is no outcome.",
    cure: "Return nothing, or what `requeueAfter`, `waitFor`, `retry` or `terminal` give.",
  },
  FINALIZER_INVALID: {
    summary: "The name of a finalizer is empty, too long or not a qualified name.",
    cure: "Use a domain and a name of at most 63 characters: `example.com/cleanup`.",
  },
  LEASE_INVALID: {
    summary: "The times of a leader election do not fit together.",
    cure: "Keep the lease clearly longer than the renewal deadline, and that longer than the pause between tries.",
  },
  LEASE_LOST: {
    summary: "This process no longer holds the lease that lets it write.",
    cure: "Another process leads now, or the API server was out of reach for the length of the lease. Let it restart.",
  },
  CONFIGURATION_INVALID: {
    summary: "A flag, an environment variable or a field of the configuration file cannot be read.",
    cure: "The message names it and what is expected; docs/controllers.md lists them all.",
  },
  EFFECT_NOT_RUN: {
    summary: "A plan came to an effect, whose result it cannot know.",
    cure: "Nothing to do; to let the plan go on, state what stands in for the result: ctx.effect(name, run, { planned }).",
  },
  METRIC_CONFLICT: {
    summary: "Two metrics of different types have one name.",
    cure: "Give the metric another name.",
  },
  METRIC_NAME_INVALID: {
    summary: "Prometheus cannot read the name of a metric or of one of its labels: it would refuse the whole page.",
    cure: "Use letters, digits and underscores, no digit first.",
  },
  ADDRESS_UNAVAILABLE: {
    summary: "A server cannot listen on the address that it was given.",
    cure: "Another process has the port, or the address is not this machine's: choose another, or port 0 for any.",
  },
  CONTROL_PLANE_MISSING: {
    summary: "The embedded control plane is not installed.",
    cure: "Install it: npm install --save-dev @setpoint/control-plane.",
  },
  APP_INVALID: {
    summary: "An app is declared in a way that cannot work.",
    cure: "The message lists everything that is wrong with the declaration.",
  },
  MANIFEST_INVALID: {
    summary: "The manifest of an app cannot be read, or contradicts itself.",
    cure: "The message lists each contradiction. `manifestOf(app)` gives one that fits the code.",
  },
  MANIFEST_MISMATCH: {
    summary: "The manifest of an app says something else than its code.",
    cure: "The message lists each difference. Generate it anew with `manifestOf(app)`, or change the code.",
  },
  RUNNABLE_INVALID: {
    summary: "A group of runnables was used in a way that cannot work.",
    cure: "Give each member a name of its own, and run a group once at a time.",
  },
  RUNNABLE_STUCK: {
    summary: "A member of a group goes on although its signal was aborted.",
    cure: "Let it end when its signal is aborted; the message names it, the cause is what ended the group.",
  },
  REQUEST_REFUSED: {
    summary: "An app's admission or route refused a request.",
    cure: "The message is the app's own.",
  },
  WEBHOOK_TAKEN: {
    summary: "Another process, or somebody else, has installed webhooks under the name of this app.",
    cure: "Stop the one that the message names, or give the app another name. Where it is gone, delete the configuration.",
  },
  METRICS_CERTIFICATE_INVALID: {
    summary: "The folder of the metrics' certificate has no tls.crt and tls.key that belong together.",
    cure: "Mount the Secret of the certificate there, or leave metricsCertificates out: then one is made.",
  },
  WEBHOOK_CERTIFICATE_INVALID: {
    summary: "The Secret of the webhooks' certificate holds something else, or is damaged.",
    cure: "Delete the Secret, and it is made anew. Where it is somebody else's, give the Service another name.",
  },
  WEBHOOK_UNREACHABLE: {
    summary: "The API server could not reach the webhooks that this process would serve.",
    cure: "Run in the cluster behind a Service, use a local control plane, or give a URL that the cluster can reach.",
  },
  BODY_STORE_FAILED: {
    summary: "The store of an external informer's bodies could not be asked, or gave an error.",
    cure: "Check that Redis or Memcached runs at the address in the message. Writes are tried again; lost bodies are read from the server.",
  },
  BODY_STORE_TAKEN: {
    summary: "Another writer has claimed the prefix of the body store.",
    cure: "Give each writer its own prefix, or wait until the other's claim has run out.",
  },
  GRAPH_KIND_INVALID: {
    summary: "A kind of a graph was declared in a way that cannot run, or returned what is no outcome.",
    cure: "Change the option that the message names; return what `done()` and its siblings give.",
  },
  GRAPH_KIND_UNKNOWN: {
    summary: "A resource of a graph has a kind that is not declared.",
    cure: "Add the kind to `kinds`, or delete the resource.",
  },
  GRAPH_SPEC_INVALID: {
    summary: "The spec or the state of a graph's resource does not fit the schema of its kind.",
    cure: "The message lists each field with what is wrong with it.",
  },
  GRAPH_NAME_INVALID: {
    summary: "What was given as the name of a graph's resource is none, or is of another kind.",
    cure: "Pass `{ kind, name }`, two texts that are not empty. A rename keeps the kind.",
  },
  GRAPH_NAME_TAKEN: {
    summary: "A resource of a graph cannot have a name: another one has it.",
    cure: "Choose another name, or exchange both names in one batch.",
  },
  GRAPH_NOT_FOUND: {
    summary: "An edit names a resource that the graph does not have.",
    cure: "Create it first; a deleted resource can no longer be edited.",
  },
  GRAPH_CONFLICT: {
    summary: "A resource of a graph is no longer at the version that the edit expects.",
    cure: "Read it again and repeat the edit on what it is now. From the store: another process writes to it.",
  },
  GRAPH_CYCLE: {
    summary: "A resource of a graph refers to itself, if by way of others.",
    cure: "Remove one of the refs of the cycle: all its members then run.",
  },
  GRAPH_REF_FAILED: {
    summary: "A resource of a graph cannot run because one that it refers to is missing or has failed.",
    cure: "Repair the resource that the message names last; this one then runs by itself.",
  },
  GRAPH_RUN_CANCELLED: {
    summary: "A run of a graph was cancelled.",
    cure: "Nothing to do where something has changed: it runs again. After `cancel`, ask for a run with `reconcile`.",
  },
  GRAPH_RUN_OVER: {
    summary: "A run of a graph that was cancelled or has ended tried to act.",
    cure: "Await everything that the reconciler begins, and return when its signal is aborted.",
  },
  GRAPH_STATE_FOREIGN: {
    summary: "Somebody other than its own reconciler tried to write the state of a resource.",
    cure: "Write it in `reconcile` with `ctx.updateState`; from outside, change the spec.",
  },
  GRAPH_FENCED: {
    summary: "Another process has opened the store of this graph.",
    cure: "Nothing to do where that is meant: this process has stopped. Else run only one on a store.",
  },
  GRAPH_STOPPED: {
    summary: "The graph has stopped because its store failed.",
    cure: "The message says why; open the graph again when that is repaired.",
  },
  GRAPH_CLOSED: {
    summary: "The graph was closed.",
    cure: "Nothing to do: the process is ending. Open the graph again to go on.",
  },
});

export type ErrorCode = keyof typeof errorRegistry;
