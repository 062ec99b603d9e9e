import { systemClock, timeoutSignal } from "setpoint/clock";
import { errorAnswer } from "setpoint/testing";
import { expect } from "vitest";
import { type Fault, RestrictedOperator } from "./restricted-operator.testing.js";
import { World } from "./world.testing.js";

interface RetryCase {
  readonly title: string;
  readonly fails: (request: Parameters<Fault>[0]) => boolean;
  readonly answer: () => NonNullable<ReturnType<Fault>>;
  /** The event that reports it. */
  readonly event?: { readonly reason: string; readonly message: RegExp };
}

const isPatch: RetryCase["fails"] = ({ method, path }) => method === "PATCH" && path.startsWith("/api/v1/namespaces/");
const isListOf =
  (plural: string): RetryCase["fails"] =>
  ({ method, path }) =>
    method === "GET" && path.split("?")[0]!.endsWith(`/${plural}`);
const DENIAL = 'admission webhook "rancher.cattle.io.namespaces" denied the request: Unauthorized';

/** The requests that may fail while a namespace is assigned, each separately. There is no get: see the last test. */
export const retryCases: readonly RetryCase[] = [
  {
    title: "a list of projects that breaks [R9, R21]",
    fails: isListOf("projects"),
    answer: () => errorAnswer(500, "InternalError"),
  },
  {
    title: "a list of projects that is forbidden [R9]",
    fails: isListOf("projects"),
    answer: () => errorAnswer(403, "Forbidden"),
  },
  {
    title: "a list of namespaces that breaks [R9]",
    fails: isListOf("namespaces"),
    answer: () => errorAnswer(500, "InternalError"),
  },
  {
    title: "a patch that the webhook denies [R10]",
    fails: isPatch,
    answer: () => errorAnswer(403, "Forbidden", DENIAL),
    event: { reason: "AssignmentDenied", message: /denied the request.*manage-namespaces/ },
  },
  { title: "a patch that conflicts [R10]", fails: isPatch, answer: () => errorAnswer(409, "Conflict") },
  { title: "a patch that is invalid [R10]", fails: isPatch, answer: () => errorAnswer(422, "Invalid") },
  { title: "a patch that breaks [R10]", fails: isPatch, answer: () => errorAnswer(500, "InternalError") },
];

/** With the printed rules and three failures the namespace is still assigned, by one successful patch. */
export async function expectRetried(kubeconfig: string, retry: RetryCase, patienceMs: number): Promise<void> {
  const failures = 3;
  let failed = 0;
  const fault: Fault = (request) => (retry.fails(request) && failed++ < failures ? retry.answer() : undefined);
  await using operator = await RestrictedOperator.start(kubeconfig, { settings: { normalise: true }, fault });
  using deadline = timeoutSignal(systemClock, patienceMs);
  const world = new World(operator.admin, deadline.signal);
  world.step = retry.title;
  await world.untilServed();
  const name = `retried-${retryCases.indexOf(retry)}`;
  await world.project(`p-${name}`, `Dev Ops ${name}`);
  await world.namespace(name, { appOwner: `dev-ops-${name}` });
  await world.untilAssigned(name, [`p-${name}`, "local", `local:p-${name}`]);
  if (retry.event) expect(await world.untilEvent(name, retry.event.reason)).toMatch(retry.event.message);
  expect(failed).toBeGreaterThan(failures - 1);
  const patches = operator.sent.filter((request) => isPatch(request) && request.path.includes(`/${name}`));
  expect(patches).toHaveLength(retry.fails === isPatch ? failures + 1 : 1);
  expect(
    operator.sent.filter(({ method, path }) => method === "GET" && /^\/api\/v1\/namespaces\/[^?]/.test(path)),
  ).toEqual([]);
  expect(operator.refused).toEqual([]);
}
