import { area } from "../../case.js";
import type { Body } from "../../session.js";
import { crds, object, widgets } from "../custom/widgets.js";

const services = "/apis/apiregistration.k8s.io/v1/apiservices";
const managed = "kube-aggregator.kubernetes.io/automanaged";
/** Without managedFields: the server creates these objects before it answers requests. */
const shown = ({ metadata, spec, status }: Body): unknown => [metadata.name, metadata.labels, spec, status];

export const apiServiceCases = area("api services", {
  "one for each version that is built in": async (s) => {
    const { body } = await s.get(`${services}?labelSelector=${managed}%3Donstart`, { silent: true });
    s.note("services", [body.kind, body.items.map(shown)]);
  },
  "one of them": async (s) => {
    const { body } = await s.get(`${services}/v1.apps`, { silent: true });
    s.note("service", [body.kind, shown(body)]);
    await s.get(`${services}/v7.apps`);
  },
  "of the core group": async (s) => {
    const { body } = await s.get(`${services}/v1.`, { silent: true });
    s.note("service", [body.kind, shown(body)]);
  },
  "one comes with a custom resource": async (s) => {
    await s.crd(widgets(s, object({})));
    await s.eventually(`${services}/v1.${s.group}`, (reply) => reply.status === 200);
  },
  "one goes with the last custom resource": async (s) => {
    await s.crd(widgets(s, object({})));
    await s.eventually(`${services}/v1.${s.group}`, (reply) => reply.status === 200);
    await s.delete(`${crds}/widgets.${s.group}`, undefined, { silent: true });
    await s.eventually(`${services}/v1.${s.group}`, (reply) => reply.status === 404);
  },
  "one for each served version": async (s) => {
    const definition = widgets(s, object({}));
    const [first] = definition.spec.versions;
    definition.spec.versions.push({ ...first, name: "v2", storage: false }, { ...first, name: "v3", storage: false });
    definition.spec.versions[2].served = false;
    await s.crd(definition);
    // The order of the two is random.
    const second = await s.until(`${services}/v2.${s.group}`, (reply) => reply.status === 200);
    s.note("second", shown(second.body));
    await s.get(`${services}/v3.${s.group}`);
  },
  "follow the versions that are served": async (s) => {
    const definition = widgets(s, object({}));
    await s.crd(definition);
    await s.eventually(`${services}/v1.${s.group}`, (reply) => reply.status === 200);
    const [first] = definition.spec.versions;
    const versions = [
      { ...first, served: false },
      { ...first, name: "v2", storage: false },
    ];
    await s.patch("merge", `${crds}/widgets.${s.group}`, { spec: { versions } }, { silent: true });
    await s.eventually(`${services}/v2.${s.group}`, (reply) => reply.status === 200);
    await s.eventually(`${services}/v1.${s.group}`, (reply) => reply.status === 404);
  },
  "one that was deleted comes back": async (s) => {
    await s.crd(widgets(s, object({})));
    const path = `${services}/v1.${s.group}`;
    const { body } = await s.eventually(path, (reply) => reply.status === 200);
    await s.delete(path);
    await s.eventually(path, (reply) => reply.status === 200 && reply.body.metadata.uid !== body.metadata.uid);
  },
  "as a table": async (s) => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
    const { body } = await s.get(`${services}/v1.apps`, { silent: true, headers });
    s.note("table", [body.kind, body.columnDefinitions, body.rows?.[0]?.cells.slice(0, 3)]);
  },
  "as they are listed": async (s) => {
    const { body } = await s.get(`${services}?fieldSelector=metadata.name%3Dv1.batch&limit=5`, { silent: true });
    s.note("list", [body.kind, body.apiVersion, body.items.map(shown)]);
  },
});
