import { expect, it } from "vitest";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { SetpointError } from "../../errors/error.js";
import { textLogger } from "./text-logger.js";

function logged(level: "debug" | "info" = "info") {
  const lines: string[] = [];
  const clock = new VirtualClock(Date.parse("2026-01-01T12:03:04Z"));
  return { lines, log: textLogger({ clock, level, write: (line) => lines.push(line) }) };
}

it("writes one line for people: time of day, level, message, fields", () => {
  const { lines, log } = logged();
  log.with({ manager: "shop", controller: "orders" }).info("started", { count: 2, note: "two words", none: undefined });
  log.debug("unseen");
  expect(lines).toEqual(['12:03:04 INFO  started  controller=orders  count=2  note="two words"']);
});

it("shows errors by code and message, once, and programming errors with their stack", () => {
  const { lines, log } = logged();
  log.error("reconcile of a failed: no disk", { error: new SetpointError("LEASE_LOST", "no disk") });
  log.warn("beside", { error: new Error("oops") });
  expect(lines[0]).toBe("12:03:04 ERROR reconcile of a failed: no disk  error=LEASE_LOST");
  expect(lines[1]).toBe("12:03:04 WARN  beside  error=oops");
  expect(lines[2]).toMatch(/^Error: oops\n\s+at /);
});

it("lets no control character through to the terminal", () => {
  const { lines, log } = logged();
  log.info("a\u001b[31mb\nc", { name: "x\u0007y" });
  expect(lines.join("")).not.toMatch(/\p{Cc}/u);
});
