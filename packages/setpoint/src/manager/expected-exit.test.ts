import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

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

it.skipIf(!existsSync(INDEX))("an expected end is one clear line, without source or stack (needs the build)", () => {
  const { status, stderr } = exitOf(`${PROGRAM} await run(pods, { env: { HOME: "/nowhere" } });`);
  expect(status).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(/^CLUSTER_NOT_CHOSEN: /)]);
});

it.skipIf(!existsSync(INDEX))("those who catch the error notice nothing (needs the build)", () => {
  const caught = `await run(pods, { env: { HOME: "/nowhere" } }).catch(({ code }) => console.log("caught", code));`;
  const { status, stdout } = exitOf(`${PROGRAM} ${caught}`);
  expect([status, stdout]).toEqual([0, "caught CLUSTER_NOT_CHOSEN\n"]);
});
