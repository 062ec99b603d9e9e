import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { appSuite } from "./apps.suite.js";
import { childSuite } from "./children.suite.js";
import { controllerSuite } from "./controllers.suite.js";
import { IntegrationWorld, type Server } from "./integration-world.testing.js";
import { managerSuite } from "./managers.suite.js";
import { watcherSuite } from "./watchers.suite.js";

/** The guarantees of controllers, watchers, apps and the manager, on any API server. */
export function integrationSuite(title: string, start: () => Promise<Server>): void {
  describe(`on ${title}`, () => {
    let world: IntegrationWorld;
    beforeAll(async () => {
      world = await IntegrationWorld.create(await start());
    }, 900_000);
    afterEach(() => world.reset());
    afterAll(() => world?.[Symbol.asyncDispose]());

    for (const suite of [childSuite, controllerSuite, watcherSuite, appSuite, managerSuite]) suite(() => world);
  });
}
