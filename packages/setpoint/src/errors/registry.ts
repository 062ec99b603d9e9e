import { defineErrors } from "./error.js";

/** Every error code of the package `setpoint`, by area. A test keeps `docs/errors.md` equal to this list. */
export const errorRegistry = defineErrors({
  ABORTED: {
    summary: "The caller aborted the operation through its AbortSignal.",
    cure: "Nothing to do: the caller asked for it. The signal's reason is the error's cause.",
  },
  DURATION_INVALID: {
    summary: "The value of an option is not a duration.",
    cure: "Write a number with a unit (250ms, 10s, 5m, 1.5h) or a number of milliseconds; it must not be negative.",
  },
  CLOCK_RUNAWAY: {
    summary: "Timers of a virtual clock keep setting new timers that are due at once.",
    cure: "Find the loop that sleeps for 0 ms. The message has the virtual time at which it spins.",
  },
  KIND_ID_INVALID: {
    summary: "The id of a kind does not have the form group/version/Kind.",
    cure: "Write web.example.com/v1/Website, or v1/Pod for a kind of the core group. The kind begins with a capital letter.",
  },
  KIND_INVALID: {
    summary: "The declaration of a kind contradicts itself or its schema.",
    cure: "Correct the option or the path that the message names.",
  },
  SCHEMA_INEXPRESSIBLE: {
    summary: "A CustomResourceDefinition cannot express a part of the schema.",
    cure: "The message names the path. Write that part differently, or mark it k8s.preserveUnknownFields to leave it unchecked.",
  },
  OBJECT_INVALID: {
    summary: "An object does not fit the schema of its kind.",
    cure: "The message lists each field with what is wrong with it.",
  },
  CONVERSION_MISSING: {
    summary:
      "The kind does not declare the version that an object should be converted to, or has no conversion for it.",
    cure: "Declare the version in the kind's `versions`, with `up` and `down`.",
  },
  CRD_REFUSED: {
    summary: "A CustomResourceDefinition cannot replace the installed one.",
    cure: "The message names the reason. Keep every version that objects are stored in, and never change the scope.",
  },
  CRD_INCOMPATIBLE: {
    summary: "A CustomResourceDefinition would break objects or clients of the installed one.",
    cure: "Make the change in a new version, or install with allowIncompatible if nothing depends on the old form.",
  },
  CRD_NOT_ESTABLISHED: {
    summary: "The server has not established a CustomResourceDefinition.",
    cure: "Read the server's conditions in the message. The usual reason: another definition has the same names.",
  },
  KIND_NOT_SERVED: {
    summary: "The server does not serve a kind.",
    cure: "Install its CustomResourceDefinition, or correct the group, version or kind; the message lists what is served.",
  },
  DISCOVERY_FAILED: {
    summary: "The server's answer to a discovery request is not a discovery document.",
    cure: "Check that the address is that of an API server. The message has the path and the status of the answer.",
  },
  QUANTITY_INVALID: {
    summary: "A string is not a Kubernetes quantity.",
    cure: "Write a number with one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei, or an exponent.",
  },
  TIME_INVALID: {
    summary: "A string is not a time of the Kubernetes API.",
    cure: "Write RFC 3339: 2026-01-31T12:00:00Z, with six digits after the seconds for a MicroTime.",
  },
  INT_OR_STRING_INVALID: {
    summary: "A value must be a number or a percentage, and is neither.",
    cure: 'Write a number, or a percentage such as "25%".',
  },
  LABEL_SELECTOR_INVALID: {
    summary: "A label selector has a syntax error.",
    cure: "Correct the term that the message names. The syntax is that of kubectl -l.",
  },
  FIELD_SELECTOR_INVALID: {
    summary: "A field selector has a syntax error.",
    cure: "Write field=value or field!=value, separated by commas; escape comma, equals sign and backslash in values.",
  },
  RESOURCE_VERSION_INVALID: {
    summary: "A resourceVersion is not a decimal number.",
    cure: "Compare only resourceVersions that came from a server. A server that sends others does not follow the Kubernetes API.",
  },
  TRANSPORT_REFUSED: {
    summary: "The client could not connect to the server; it sent nothing.",
    cure: "Check that the server runs and that its address, port, proxy and name resolution are right; the cause says what failed.",
  },
  TRANSPORT_BROKEN: {
    summary:
      "The connection ended, or did not speak HTTP, before the response was complete; the server may have acted on the request.",
    cure: "The client retries reads. After a write, read the object to see whether the write took effect.",
  },
  TRANSPORT_TIMEOUT: {
    summary: "The server did not answer, or stopped sending, for longer than the limit.",
    cure: "Check the server's load and the network. Where such waits are normal, raise headTimeout or idleTimeout.",
  },
  TRANSPORT_UNTRUSTED: {
    summary: "The client does not trust the server's certificate, or the certificate is for another name.",
    cure: "Put the right CA into certificate-authority(-data), or the name that the certificate is for into tls-server-name.",
  },
  REQUEST_INVALID: {
    summary: "The arguments of a call do not make a valid request.",
    cure: "Correct the argument that the message names: a name, the namespace of a namespaced kind, a URL or header without control characters.",
  },
  RESPONSE_INVALID: {
    summary: "The answer is not what a Kubernetes API server sends.",
    cure: "Look at the start of the answer in the message. Often a proxy, a login page or another service answered.",
  },
  STREAM_TRUNCATED: {
    summary: "A watch or list stream ended in the middle of a line.",
    cure: "Start the watch again from the last resourceVersion. An informer does this itself.",
  },
  STREAM_LINE_TOO_LONG: {
    summary: "A line of a stream is longer than the limit.",
    cure: "Raise maxLineBytes if you expect objects of that size; otherwise find out who sends them.",
  },
  KUBECONFIG_NOT_FOUND: {
    summary: "A kubeconfig file does not exist.",
    cure: "Correct the path in the option or in KUBECONFIG.",
  },
  KUBECONFIG_INVALID: {
    summary: "A kubeconfig has a wrong or missing value; the message names the file and the field.",
    cure: "Correct that field; `kubectl config view` shows how kubectl reads the file.",
  },
  CLUSTER_NOT_CHOSEN: {
    summary: "No option names a cluster, and Setpoint never guesses one.",
    cure: "Pass a kubeconfig, set KUBECONFIG, run in a pod, or start an embedded control plane with `npx setpoint up`.",
  },
  CREDENTIALS_FAILED: {
    summary: "The client could not get its credentials: a token file is unreadable or an exec plugin failed.",
    cure: "Run the plugin, or read the file, that the message names. Log in again with your provider's tool.",
  },
  API_BAD_REQUEST: {
    summary: "The server did not understand the request (400).",
    cure: "Correct the object, selector or option that the message names.",
  },
  API_UNAUTHORIZED: {
    summary: "The server does not accept the credentials (401).",
    cure: "Renew the token or certificate of the kubeconfig's user.",
  },
  API_FORBIDDEN: {
    summary: "The user may not do this (403).",
    cure: "Grant the verb on the resource with a Role and a RoleBinding. The message names the verb and the resource.",
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
    cure: "Use another patch type: custom resources do not accept strategic merge patches.",
  },
  API_CONFLICT: {
    summary: "The object has changed, or another manager owns a field (409).",
    cure: "Read the object again and repeat the change, or apply with force.",
  },
  API_ALREADY_EXISTS: {
    summary: "An object of this name exists already (409).",
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
    cure: "The client retries within limits. Send fewer requests, or wait until the disruption budget allows the eviction.",
  },
  API_INTERNAL: {
    summary: "The server failed (500).",
    cure: "See the server's log. If a webhook failed, the message names it.",
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
    summary: "The server answered with an error that Setpoint has no code for.",
    cure: "Read the message: status and reason come from the server.",
  },
  INFORMER_NOT_SYNCED: {
    summary: "An informer did not receive its initial list in time.",
    cure: "Read the last error in the message. Most often the kind is not installed, or RBAC forbids to list it.",
  },
  INFORMER_STOPPED: {
    summary: "An informer was used after it was stopped.",
    cure: "Keep your share of it (informers.for) for as long as you use it.",
  },
  INFORMER_KIND_NOT_SERVED: {
    summary: "The server does not serve the kind; the informer waits for it.",
    cure: "Install its CustomResourceDefinition, or correct its group, version or plural. The informer starts when the kind appears.",
  },
  INFORMER_KIND_UNCLEAR: {
    summary: "The server answers 404 for a kind, but its discovery does not say that the kind is gone.",
    cure: "Check the proxies between this process and the server. Meanwhile the informer treats no object as deleted.",
  },
  INFORMER_STREAM_LIST_STALLED: {
    summary: "A streamed list did not end. The informer now lists this server in pages.",
    cure: "Nothing to do. The usual reason is a proxy that holds back bookmarks, or an old server.",
  },
  INFORMER_OBJECT_REFUSED: {
    summary: "The server sent an object of another kind, or without a name. The informer ignores it.",
    cure: "Check the conversion webhook of the kind, and the proxies between this process and the server.",
  },
  INFORMER_BODY_UNREADABLE: {
    summary: "A stored object is not JSON.",
    cure: "The server sent bytes that are not valid JSON. Report it with the server's version.",
  },
  INFORMER_HANDLER_FAILED: {
    summary: "An event handler threw. The informer does not deliver the event again.",
    cure: "See the cause. A handler that can fail should add the key to a queue and do the work there.",
  },
  INFORMER_INDEX_FAILED: {
    summary: "An index function threw. The index does not contain the object.",
    cure: "See the cause. The function must accept every object of its kind.",
  },
  INFORMER_INDEX_TAKEN: {
    summary: "An index of this name exists with another function.",
    cure: "Give the index another name, or pass the same function.",
  },
  INFORMER_INDEX_UNKNOWN: {
    summary: "There is no index of this name.",
    cure: "Declare it with `scoped(Kind, { indexes: { name: … } })`. On an informer of your own, call addIndex before you read it.",
  },
  INFORMER_DELETE_NOT_SEEN: {
    summary: "The informer did not see this process's own delete in time. Reads may still show the object.",
    cure: "Check the informer's status, and whether a finalizer keeps the object.",
  },
  CONTROLLER_INVALID: {
    summary: "The declaration of a controller has an error.",
    cure: "Change the option that the message names.",
  },
  CONTROLLER_STOPPED: {
    summary: "The controller is stopping and has aborted this operation.",
    cure: "Nothing to do: the next process to run the controller reconciles the object.",
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
    summary: "A reconciler read or created objects that its controller does not watch.",
    cure: 'Declare the kind with its namespaces: `scoped(Secret, { namespaces: ["infra"] })`, or `"all"`. Give children the labels that the selector matches.',
  },
  NAMESPACE_MISSING: {
    summary: "The reconciler of a cluster-scoped object read or wrote a namespaced object without a namespace.",
    cure: "Give the namespace in the options of the read or in the metadata of the object.",
  },
  DEPENDENCY_ABSENT: {
    summary: "An object that a reconciler requires does not exist.",
    cure: "Create it; the controller then reconciles again. Use `ctx.find` where the object is optional.",
  },
  CHILD_NOT_OWNED: {
    summary: "A child that the controller applies exists already and belongs to another owner.",
    cure: 'Choose another name, delete the object, or pass `existing: "adopt"` where the object has no controller.',
  },
  CHILD_TERMINATING: {
    summary: "A child is being deleted, so the controller cannot apply it yet.",
    cure: "Nothing to do: the controller reconciles again when the child is gone. If it stays, look at its finalizers.",
  },
  RUN_OVER: {
    summary: "A reconciler used its context after its run had ended.",
    cure: "Await every promise that the reconciler starts.",
  },
  RECONCILE_TIMEOUT: {
    summary: "A reconcile, or a handler of a watcher, took longer than `timeout` allows.",
    cure: "Find out what it waits for, pass `ctx.signal` on, return `waitFor` instead of waiting, or raise `timeout`.",
  },
  RECONCILE_HUNG: {
    summary: "A reconcile, or a handler of a watcher, continues although its signal is aborted.",
    cure: "Pass `ctx.signal` to everything that it awaits. The controller does not reconcile the object again until this run ends.",
  },
  CONDITIONS_MISSING: {
    summary: "A reconciler set a condition on a kind whose status has no conditions.",
    cure: "Add conditions to the status schema of the kind and install its CustomResourceDefinition, or use ctx.status for another field.",
  },
  OUTCOME_INVALID: {
    summary: "A reconciler returned a value that is not an outcome.",
    cure: "Return nothing, or the result of `requeueAfter`, `waitFor`, `retry` or `terminal`.",
  },
  FINALIZER_INVALID: {
    summary: "The name of a finalizer is empty, too long or not a qualified name.",
    cure: "Use a domain and a name of at most 63 characters: `example.com/cleanup`.",
  },
  LEASE_INVALID: {
    summary: "The durations of the leader election contradict each other.",
    cure: "Make the lease duration longer than the renew deadline, and the renew deadline longer than the retry period.",
  },
  LEASE_LOST: {
    summary: "This process no longer holds the lease that lets it write.",
    cure: "Let the process restart. Another process leads now, or the API server was unreachable for the lease duration.",
  },
  CONFIGURATION_INVALID: {
    summary: "A flag, an environment variable or a field of the configuration file has an invalid value.",
    cure: "The message names the setting and what it expects. docs/controllers.md lists all settings.",
  },
  EFFECT_NOT_RUN: {
    summary: "A plan reached an effect. A plan never runs effects, so it does not know the result.",
    cure: "Nothing to do. To let the plan continue, give a stand-in result: ctx.effect(name, run, { planned }).",
  },
  METRIC_CONFLICT: {
    summary: "Two metrics of different types have the same name.",
    cure: "Give the metric another name.",
  },
  METRIC_NAME_INVALID: {
    summary: "The name of a metric, or of one of its labels, is invalid. Prometheus would reject the whole page.",
    cure: "Use letters, digits and underscores. Do not begin with a digit.",
  },
  ADDRESS_UNAVAILABLE: {
    summary: "A server cannot listen on its address.",
    cure: "Another process has the port, or the address does not belong to this machine. Choose another port, or port 0 for any free one.",
  },
  CONTROL_PLANE_MISSING: {
    summary: "The embedded control plane is not installed.",
    cure: "Install it: npm install --save-dev @setpoint/control-plane.",
  },
  APP_INVALID: {
    summary: "The declaration of an app has errors.",
    cure: "Correct what the message lists.",
  },
  MANIFEST_INVALID: {
    summary: "The manifest of an app is unreadable, or contradicts itself.",
    cure: "The message lists each contradiction. `manifestOf(app)` makes a manifest that matches the code.",
  },
  MANIFEST_MISMATCH: {
    summary: "The manifest of an app differs from its code.",
    cure: "The message lists each difference. Generate the manifest again with `manifestOf(app)`, or change the code.",
  },
  RUNNABLE_INVALID: {
    summary: "Two members of a group have the same name, or the group runs already.",
    cure: "Give each member its own name, and do not run a group twice at the same time.",
  },
  RUNNABLE_STUCK: {
    summary: "A member of a group continues although its signal is aborted.",
    cure: "Make the member that the message names return when its signal is aborted. The cause says why the group stopped.",
  },
  REQUEST_REFUSED: {
    summary: "An admission handler or a route of an app refused a request.",
    cure: "Follow the message, which comes from the app.",
  },
  WEBHOOK_TAKEN: {
    summary: "Another process has installed webhooks under the name of this app.",
    cure: "Stop the process that the message names, or give the app another name. If that process is gone, delete its webhook configuration.",
  },
  METRICS_CERTIFICATE_INVALID: {
    summary: "The folder of the metrics certificate has no matching tls.crt and tls.key.",
    cure: "Mount the Secret of the certificate there, or leave metricsCertificates out: the manager then makes a certificate.",
  },
  WEBHOOK_CERTIFICATE_INVALID: {
    summary: "The Secret of the webhook certificate has other content, or is damaged.",
    cure: "Delete the Secret; the manager creates it again. If the Secret belongs to something else, give the Service another name.",
  },
  WEBHOOK_UNREACHABLE: {
    summary: "The API server cannot reach the webhooks of this process.",
    cure: "Run in the cluster behind a Service, use a local control plane, or give a URL that the cluster can reach.",
  },
  BODY_STORE_FAILED: {
    summary: "The body store of an external informer is unreachable, or answered with an error.",
    cure: "Check that Redis or Memcached runs at the address in the message. The informer retries writes and reads lost bodies from the API server.",
  },
  BODY_STORE_TAKEN: {
    summary: "Another writer has claimed the prefix of the body store.",
    cure: "Give each writer its own prefix, or wait until the other writer's claim expires.",
  },
  GRAPH_KIND_INVALID: {
    summary: "The declaration of a graph kind has an error, or its reconciler returned a value that is not an outcome.",
    cure: "Change the option that the message names. Return the result of `done()`, `requeueAfter` and so on.",
  },
  GRAPH_KIND_UNKNOWN: {
    summary: "A resource of a graph has a kind that the graph does not declare.",
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
    summary: "Another resource of the graph has this name already.",
    cure: "Choose another name. To swap two names, rename both in one batch.",
  },
  GRAPH_NOT_FOUND: {
    summary: "An edit names a resource that the graph does not have.",
    cure: "Create the resource first. You cannot edit a deleted resource.",
  },
  GRAPH_CONFLICT: {
    summary: "A resource of a graph is no longer at the version that the edit expects.",
    cure: "Read the resource again and repeat the edit. If the error comes from the store, another process writes to it.",
  },
  GRAPH_CYCLE: {
    summary: "A resource of a graph refers to itself, directly or through others.",
    cure: "Remove one of the refs of the cycle. All its members then run.",
  },
  GRAPH_REF_FAILED: {
    summary: "A resource of a graph cannot run because one that it refers to is missing or has failed.",
    cure: "Repair the resource that the message names last. This resource then runs again.",
  },
  GRAPH_RUN_CANCELLED: {
    summary: "A run of a graph was cancelled.",
    cure: "After a change, nothing to do: the resource runs again. After `cancel`, start a run with `reconcile`.",
  },
  GRAPH_RUN_OVER: {
    summary: "A graph run used its context after it was cancelled or had ended.",
    cure: "Await every promise that the reconciler starts, and return when its signal is aborted.",
  },
  GRAPH_STATE_FOREIGN: {
    summary: "A caller other than the resource's reconciler tried to write its state.",
    cure: "Write the state in `reconcile` with `ctx.updateState`. From outside, change the spec.",
  },
  GRAPH_FENCED: {
    summary: "Another process has opened the store of this graph.",
    cure: "Run only one process per store. If you moved the graph on purpose, do nothing: this process has stopped.",
  },
  GRAPH_STOPPED: {
    summary: "The graph has stopped because its store failed.",
    cure: "Repair what the message names, then open the graph again.",
  },
  GRAPH_CLOSED: {
    summary: "The graph is closed.",
    cure: "Open the graph again. If the process is ending, do nothing.",
  },
});

export type ErrorCode = keyof typeof errorRegistry;
