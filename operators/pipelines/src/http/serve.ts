import { systemClock, systemRandom } from "setpoint/clock";
import { resourceKey } from "setpoint/graph";
import type { Pipelines } from "../runtime/pipelines.js";
import { planProject } from "../runtime/plan.js";
import { refresh, refreshOrder } from "../runtime/refresh.js";
import { resolve, resolverRequest } from "../runtime/resolver.js";
import { explanationView, resourceView, resourceViews } from "../runtime/resource-view.js";
import { EventLog } from "./event-log.js";
import { type PipelinesApi, PipelinesServer, type ServeOptions } from "./pipelines-server.js";

/** Serves a project, and tells the other processes of this machine's user its address and token. */
export async function serve(
  pipelines: Pipelines,
  options: Pick<ServeOptions, "port" | "orAnyPort">,
): Promise<AsyncDisposable & { readonly url: string; readonly token: string }> {
  const token = Buffer.from(systemRandom.bytes(32)).toString("hex");
  const events = new EventLog(Buffer.from(systemRandom.bytes(6)).toString("hex"));
  const server = await PipelinesServer.listen({ api: apiOf(pipelines, events), token, ...options });
  const problemOf = (key: string) => pipelines.project.broken.find(({ name }) => resourceKey(name) === key)?.problem;
  const changes = pipelines.graph.subscribe((event) => {
    if (event.type === "removed") events.add("removed", event.name);
    else events.add("resource", resourceView(event.resource, problemOf(resourceKey(event.resource.meta.name))));
  });
  const projects = pipelines.onProject(() => events.add("project", projectView(pipelines)));
  pipelines.lock.publish({ pid: process.pid, url: server.url, token });
  return {
    url: server.url,
    token,
    async [Symbol.asyncDispose]() {
      changes[Symbol.dispose]();
      projects[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function apiOf(pipelines: Pipelines, events: EventLog): PipelinesApi {
  return {
    events,
    resources: () => resourceViews(pipelines),
    resource: (name) => {
      const found = pipelines.resource(name);
      return resourceViews(pipelines).find(
        (view) => view.kind === found.meta.name.kind && view.name === found.meta.name.name,
      );
    },
    project: () => projectView(pipelines),
    explain: (name) => explanationView(pipelines, name),
    plan: () => planProject(pipelines, systemClock.now()),
    refresh: (request) => refresh(pipelines, refreshOrder(request), systemRandom),
    query: (request, signal) => resolve(pipelines, resolverRequest(request), signal),
  };
}

/** The problems of the files, and the files that are not run. */
function projectView({ project }: Pipelines): unknown {
  const { settings, problems, unrun } = project;
  return { displayName: settings.displayName, environment: settings.environment, problems, unrun };
}
