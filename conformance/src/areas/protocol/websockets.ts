import { area } from "../../case.js";
import type { Session } from "../../session.js";
import { clientFrame } from "../../websocket-frames.js";
import { widget, widgetPath, widgets } from "../custom/widgets.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const mine = "labelSelector=mine";
const make = (s: Session, name: string): Promise<unknown> =>
  s.post(path(s), { metadata: { name, labels: { mine: "" } } }, { silent: true });

const BEARER = "base64url.bearer.authorization.k8s.io.";
const offered = (protocols: string): { headers: Record<string, string> } => ({
  headers: { "sec-websocket-protocol": protocols },
});
const pod = {
  metadata: { name: "a" },
  spec: { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] },
};

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
  "takes a token out of the subprotocols": async (s) => {
    const account = `/api/v1/namespaces/${s.namespace}/serviceaccounts/default/token`;
    const { body } = await s.post(account, { spec: {} }, { silent: true });
    const token = (text: string): string => `${BEARER}${Buffer.from(text).toString("base64url")}`;
    for (const protocols of [
      `${token(body.status.token)}, base64.binary.k8s.io`,
      token(body.status.token),
      `${token(body.status.token)}, ${token(body.status.token)}, base64.binary.k8s.io`,
      `${token("nobody")}, base64.binary.k8s.io`,
      `${BEARER}=, base64.binary.k8s.io`,
      `${BEARER}, base64.binary.k8s.io`,
    ]) {
      using watch = await s.webSocketWatch(`${path(s)}?watch=true`, { ...offered(protocols), token: null });
      await watch.end();
    }
  },
  "is for those who may watch": async (s) => {
    using watch = await s.webSocketWatch(`${path(s)}?watch=true`, { headers: { "impersonate-user": "nobody" } });
    await watch.end();
  },
  "tells of a version that is to come": async (s) => {
    using watch = await s.webSocketWatch(`${path(s)}?watch=true&timeoutSeconds=1&resourceVersion=99999999999`);
    await watch.end();
  },
  "sends bookmarks, and the list first": async (s) => {
    await make(s, "a");
    using watch = await s.webSocketWatch(
      `${path(s)}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${mine}`,
    );
    await watch.take(2, { bookmarks: true });
  },
  "answers pings, and heeds nothing else that is sent": async (s) => {
    await make(s, "a");
    using watch = await s.webSocketWatch(`${path(s)}?watch=true&${mine}`);
    await watch.take(1);
    watch.send(clientFrame("ping", "hello"));
    await watch.take(1);
    watch.send(clientFrame("text", "what is this?"));
    watch.send(clientFrame("binary", Buffer.from([0, 1, 2])));
    await make(s, "b");
    await watch.take(1);
  },
  "ends when the client closes it": async (s) => {
    for (const payload of [Buffer.from([0x03, 0xe8]), Buffer.from([0x03, 0xe9]), Buffer.alloc(0)]) {
      using watch = await s.webSocketWatch(`${path(s)}?watch=true&${mine}`);
      watch.send(clientFrame("close", payload));
      await watch.end();
      await watch.end();
    }
  },
  "is asked for in other words": async (s) => {
    for (const headers of [
      { connection: "keep-alive, Upgrade" },
      { connection: "upgrade", upgrade: "WebSocket" },
      { upgrade: "websocket, h2c" },
      { connection: "close", upgrade: "websocket" },
    ] as Record<string, string>[]) {
      using watch = await s.webSocketWatch(`${path(s)}?watch=true&timeoutSeconds=1&${mine}`, { headers });
      await watch.end();
    }
  },
  "of exec, in a pod that is not there or runs nowhere": async (s) => {
    const pods = `/api/v1/namespaces/${s.namespace}/pods`;
    await s.post(pods, pod, { silent: true });
    for (const target of [
      "none/exec?command=ls&stdout=true",
      "a/exec?command=ls&stdout=true",
      "a/exec?command=ls&container=none&stdout=true",
      "a/exec?stdout=true",
      "a/exec?command=ls",
      "a/exec?command=ls&tty=true&stdout=true&stderr=true",
      "a/attach?stdout=true",
      "a/attach",
      "a/portforward?ports=80",
    ]) {
      for (const protocol of ["v5.channel.k8s.io", "v4.channel.k8s.io", "none.channel.k8s.io"]) {
        using answer = await s.webSocketWatch(`${pods}/${target}`, offered(protocol));
        await answer.end();
      }
    }
    const refused = { headers: { "sec-websocket-protocol": "v5.channel.k8s.io", "impersonate-user": "nobody" } };
    using answer = await s.webSocketWatch(`${pods}/a/exec?command=ls&stdout=true`, refused);
    await answer.end();
  },
});
