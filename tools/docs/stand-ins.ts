/**
 * Names that blocks of the docs use without declaring them: the surrounding text explains them, and readers have their
 * own. Nothing of Setpoint itself belongs here: a block without imports finds that by its name.
 */

import type { Socket } from "node:net";
import { type App, type Client, controller, type Desired, type KubeObject, type ObjectOf, resource } from "setpoint";
import type { Route, RouteResult, Validator } from "setpoint/app";
import type { Transport } from "setpoint/client";
import type { Clock } from "setpoint/clock";
import type { GraphKind } from "setpoint/graph";
import type { Deployment } from "setpoint/kinds/apps/v1";
import type { ConfigMap } from "setpoint/kinds/v1";
import type { Manager } from "setpoint/manager";
import type { WorkQueue } from "setpoint/queue";
import type { expect as vitestExpect } from "vitest";
import { z as zod } from "zod";

const website = resource("web.example.com/v1/Website", {
  spec: zod.object({
    image: zod.string(),
    replicas: zod.int().min(0).default(1),
    draft: zod.boolean().optional(),
    region: zod.string().optional(),
  }),
  status: zod.object({ ready: zod.int().optional() }),
});
const order = resource("shop.example.com/v1/Order", {
  scope: "Cluster",
  spec: zod.object({ item: zod.string(), count: zod.int().default(1) }),
});
const step = resource("release.example.com/v1/Step", {
  spec: zod.object({ after: zod.array(zod.string()).optional() }),
});
const controllerOfWebsites = controller(website, { reconcile: () => {} });
const controllerOfOrders = controller(order, { reconcile: () => {} });
const port = zod.object({ name: zod.string(), port: zod.int() });

declare global {
  // Kinds and their controllers.
  const Website: typeof website;
  const Order: typeof order;
  const Step: typeof step;
  const websites: typeof controllerOfWebsites;
  const orders: typeof controllerOfOrders;
  function ordersIn(region: string): typeof controllerOfOrders;
  function reconcile(): void;
  function desired(site: ObjectOf<typeof website>, settings?: ConfigMap): Desired<Deployment>;
  const shop: App;
  const billing: App;
  const limits: Validator;
  const total: Route;
  const Port: typeof port;
  function addUp(): RouteResult;

  // Values that a program has.
  const Table: GraphKind<{ sql: string }, { rows: number }>;
  const client: Client;
  const edge: Client;
  const manager: Manager;
  const queue: WorkQueue<unknown>;
  const clock: Clock;
  const signal: AbortSignal;
  const server: string;
  const inner: Transport;
  const writer: string;
  const socket: Socket;
  const chunks: unknown[];
  const openOrders: ReadonlySet<string>;
  const journal: { write(what: string, name: string): Promise<void> };

  // Functions of a program.
  function handle(...what: readonly unknown[]): Promise<void>;
  function probe(signal: AbortSignal): Promise<void>;
  function isReady(object: KubeObject): Promise<boolean>;
  function isFatal(error: unknown): boolean;
  function followPrices(signal: AbortSignal): Promise<void>;
  function checkStock(order: KubeObject): void;
  function removeDnsRecord(site: KubeObject, signal: AbortSignal): Promise<void>;

  function buildTable(sql: string, signal: AbortSignal): Promise<number>;
  function dropTable(name: string): Promise<void>;

  // Other packages.
  const z: typeof zod;
  const expect: typeof vitestExpect;
}
