import { untypedKind } from "setpoint/kinds";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { ConfigMap, Event } from "setpoint/kinds/v1";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CommandLine } from "../testing/command-line.js";

/**
 * Clears the screen, renames the window, rings the bell, returns the carriage, uses an 8-bit code, reverses the text.
 */
const HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\x7f\u202eevil";
/** Everything that a terminal would interpret. Line breaks are part of the output. */
const CONTROL = /(?!\n)[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;

const Gadget = untypedKind("example.com/v1/Gadget");
const metadata = { name: "g", namespace: "default" };

let cli: CommandLine;
beforeAll(async () => {
  cli = await CommandLine.create();
  const { client } = cli.plane;
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
  const additionalPrinterColumns = [{ name: "Phase", type: "string", jsonPath: ".phase" }];
  await client.create(CustomResourceDefinition, {
    metadata: { name: "gadgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "gadgets", kind: "Gadget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, additionalPrinterColumns }],
    },
  });
  const annotations = { note: HOSTILE };
  const condition = { type: "Ready", status: "False", reason: HOSTILE, message: HOSTILE };
  const gadget = {
    metadata: { ...metadata, annotations },
    phase: HOSTILE,
    [HOSTILE]: { [HOSTILE]: [HOSTILE] },
    status: { [HOSTILE]: HOSTILE, conditions: [condition] },
  };
  await vi.waitFor(() => client.create(Gadget, gadget as never), { timeout: 15_000 });
  await client.create(ConfigMap, { metadata: { ...metadata, annotations }, data: { text: HOSTILE } });
  await client.create(Event, {
    metadata,
    involvedObject: { apiVersion: "example.com/v1", kind: "Gadget", ...metadata },
    reason: HOSTILE,
    message: HOSTILE,
    type: HOSTILE.slice(0, 4),
    source: { component: HOSTILE },
  });
});
afterAll(() => cli[Symbol.asyncDispose]());

describe("control characters in objects", () => {
  it.each([
    ["get gadget", "\\x1b[2J"],
    ["get gadget g", "\\x1b[2J"],
    ["get gadget g -o yaml", "[2J"],
    ["get gadget g -o json", "\\u001b[2J"],
    ["get configmap g -o yaml", "[2J"],
    ["describe gadget g", "\\x1b[2J"],
    ["describe gadget g -o json", "\\u001b[2J"],
    ["describe configmap g", "[2J"],
    ["events", "\\x1b[2J"],
    ["events -o yaml", "[2J"],
    ["events -o json", "\\u001b[2J"],
  ])("are escaped by %s", async (args, shown) => {
    const { code, out, err } = await cli.run(args.split(" "));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(shown);
    expect(CONTROL.exec(out)).toBeNull();
  });

  it("are escaped in the progress of apply --wait", async () => {
    const input = JSON.stringify({ apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "g" } });
    const { code, out, err } = await cli.run(["apply", "-f", "-", "--wait", "--timeout", "50ms"], { input });
    expect(code).toBe(1);
    expect(err).toContain("[2J");
    expect(CONTROL.exec(out + err)).toBeNull();
    const written: string[] = [];
    const terminal = { write: (text: string) => void written.push(text), columns: () => 200 };
    const env = { KUBECONFIG: `${cli.folder}/kubeconfig`, NO_COLOR: "1" };
    await cli.run(["apply", "-f", "-", "--wait", "--timeout", "50ms"], { input, terminal, env });
    const drawn = written.join("").replaceAll("\x1b[2K", "");
    expect(drawn).toContain("\\x1b[2J");
    expect(CONTROL.exec(drawn)).toBeNull();
  });

  it("are escaped in errors that quote them", async () => {
    const { code, err } = await cli.run(["get", "gadget", "-l", HOSTILE]);
    expect(code).not.toBe(0);
    expect(CONTROL.exec(err)).toBeNull();
  });
});
