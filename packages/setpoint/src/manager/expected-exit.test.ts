import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { SetpointError } from "../errors/error.js";
import { isExpectedEnd } from "./expected-exit.js";

const INDEX = fileURLToPath(new URL("../../dist/index.js", import.meta.url));

const exitOf = (code: string) =>
  spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });

const PROGRAM = `
  import { kind, controller, run } from ${JSON.stringify(INDEX)};
  const pods = controller(kind("v1/Pod"), { reconcile: () => {} });
`;

it.skipIf(!existsSync(INDEX)).each([
  ["CLUSTER_NOT_CHOSEN", '{ env: { HOME: "/nowhere" } }'],
  ["KUBECONFIG_NOT_FOUND", '{ env: { KUBECONFIG: "/nowhere/kubeconfig" } }'],
  ["KUBECONFIG_INVALID", '{ env: { KUBECONFIG: "/dev/null" } }'],
  ["CONFIGURATION_INVALID", '{ env: {}, args: ["--no-such-flag"] }'],
])("%s prints one clear line, without source or stack (needs the build)", (code, options) => {
  const { status, stderr } = exitOf(`${PROGRAM} await run(pods, ${options});`);
  expect(status).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(new RegExp(`^${code}: `))]);
});

it.each(["LEASE_LOST", "WEBHOOK_TAKEN", "WEBHOOK_UNREACHABLE", "CREDENTIALS_FAILED", "ADDRESS_UNAVAILABLE"] as const)(
  "%s prints one line, too; programming errors do not",
  (code) => {
    expect(isExpectedEnd(new SetpointError(code, "so it is"))).toBe(true);
    expect(isExpectedEnd(new TypeError("x is undefined"))).toBe(false);
  },
);

it.skipIf(!existsSync(INDEX))("callers that catch the error see no difference (needs the build)", () => {
  const caught = `await run(pods, { env: { HOME: "/nowhere" } }).catch(({ code }) => console.log("caught", code));`;
  const { status, stdout } = exitOf(`${PROGRAM} ${caught}`);
  expect([status, stdout]).toEqual([0, "caught CLUSTER_NOT_CHOSEN\n"]);
});
