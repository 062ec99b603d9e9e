import { area } from "../case.js";
import type { Session } from "../session.js";
import { widget, widgetPath, widgets } from "./widgets.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const mine = "labelSelector=mine";
const make = (s: Session, name: string): Promise<unknown> =>
  s.post(path(s), { metadata: { name, labels: { mine: "" } } }, { silent: true });

/** Watches as fabric8 and browsers open them. */
export const webSocketCases = area("websocket", {
  "sends each event as a text, and a close at its end": async (s) => {
    await make(s, "a");
    using watch = await s.webSocketWatch(`${path(s)}?watch=true&timeoutSeconds=2&${mine}`);
    await make(s, "b");
    await s.delete(`${path(s)}/a`, undefined, { silent: true });
    await watch.take(3);
    await watch.end();
  },
  "sends tables and metadata as asked": async (s) => {
    await make(s, "a");
    for (const kind of ["Table", "PartialObjectMetadata"]) {
      using watch = await s.webSocketWatch(`${path(s)}?watch=true&${mine}`, {
        headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` },
      });
      await watch.take(1);
    }
  },
  "of a custom resource, by the old path, of one object": async (s) => {
    await s.crd(widgets(s, { type: "object" }));
    await s.post(widgetPath(s), widget(s, "a"), { silent: true });
    await make(s, "a");
    for (const target of [
      `${widgetPath(s)}?watch=true`,
      `/api/v1/watch/namespaces/${s.namespace}/configmaps/a`,
      `${path(s)}?watch=true&fieldSelector=metadata.name=a`,
    ]) {
      using watch = await s.webSocketWatch(target);
      await watch.take(1);
    }
  },
  "names a subprotocol where one is offered": async (s) => {
    for (const offered of ["anything", "one, two"]) {
      using _watch = await s.webSocketWatch(`${path(s)}?watch=true`, {
        headers: { "sec-websocket-protocol": offered },
      });
    }
  },
  "is refused without an origin, a key or a version": async (s) => {
    for (const headers of [
      { origin: "" },
      { origin: "null" },
      { "sec-websocket-key": "" },
      { "sec-websocket-version": "8" },
    ] as Record<string, string>[]) {
      using _watch = await s.webSocketWatch(`${path(s)}?watch=true`, { headers });
    }
  },
  "is not needed for what is no watch": async (s) => {
    using _list = await s.webSocketWatch(`${path(s)}?limit=1`);
    using _wrong = await s.webSocketWatch(`${path(s)}?watch=true&resourceVersion=x`);
    using _nobody = await s.webSocketWatch(`${path(s)}?watch=true`, { token: "nobody" });
    using _other = await s.webSocketWatch(`${path(s)}?watch=true&timeoutSeconds=1`, {
      headers: { upgrade: "SPDY/3.1" },
    });
  },
});
