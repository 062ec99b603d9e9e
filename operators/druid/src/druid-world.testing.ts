import type { NewObject } from "setpoint";
import { Event } from "setpoint/kinds/v1";
import { TestEnvironment, type TestEnvironmentOptions } from "setpoint/testing";
import type { DruidAnswer, DruidCall } from "./api/druid-api.js";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";
import { type DruidOperatorOptions, druidControllers } from "./druid-operator.js";

export interface DruidWorldOptions extends DruidOperatorOptions {
  readonly simulate?: boolean;
  readonly environment?: Partial<TestEnvironmentOptions>;
}

/** An operator, an API server and, if a test wants one, a scripted Druid. */
export class DruidWorld implements AsyncDisposable {
  readonly env: TestEnvironment;
  readonly options: DruidOperatorOptions;

  private constructor(env: TestEnvironment, options: DruidOperatorOptions) {
    this.env = env;
    this.options = options;
  }

  static async create({ simulate, environment, ...given }: DruidWorldOptions = {}): Promise<DruidWorld> {
    const env = await TestEnvironment.create({
      kinds: [Druid, DruidIngestion],
      ...(simulate === undefined ? {} : { simulate }),
      ...environment,
    });
    const options = { call: unreachable, ...given, clock: env.clock };
    await env.start(druidControllers(options));
    return new DruidWorld(env, options);
  }

  /** Restarts the operator, as after a crash. */
  async restart(options: DruidOperatorOptions = {}): Promise<void> {
    await this.env.start(druidControllers({ ...this.options, ...options }));
  }

  async create(druid: Druid | NewObject<Druid>): Promise<void> {
    await this.env.client.create(Druid, druid as NewObject<Druid>);
  }

  druid(name: string, namespace = "default"): Promise<Druid> {
    return this.env.client.get(Druid, name, { namespace });
  }

  async patch(name: string, body: object, namespace = "default"): Promise<void> {
    await this.env.client.patch(Druid, name, { type: "merge", body: body as never }, { namespace });
  }

  async delete(name: string, namespace = "default"): Promise<void> {
    await this.env.client.delete(Druid, name, { namespace });
  }

  async events(name: string, namespace = "default"): Promise<readonly string[]> {
    await this.env.advance("2s");
    const { items } = await this.env.client.list(Event, { namespace });
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}

export const unreachable: DruidCall = () => Promise.reject(new Error("connect ECONNREFUSED"));

/** A Druid with scripted responses by method and path. */
export function scriptedDruid(
  answer: (method: string, path: string, body: string | undefined) => Partial<DruidAnswer> | object,
) {
  const sent: string[] = [];
  const call: DruidCall = async ({ method, url, body }) => {
    const { pathname, search } = new URL(url);
    sent.push(`${method} ${pathname}${search}`);
    const given = answer(method, pathname + search, body);
    return "status" in given && typeof given.status === "number"
      ? { body: "", ...given, status: given.status }
      : { status: 200, body: JSON.stringify(given) };
  };
  return { call, sent };
}
