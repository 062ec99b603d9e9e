import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { WarningLog } from "./warning-log.js";

describe("WarningLog", () => {
  it.each([
    ["the bytes of UTF-8", Buffer.from("Straße → ok").toString("latin1"), "Straße → ok"],
    ["Latin-1 that is no UTF-8", "Straße", "Straße"],
    ["text that is decoded already", "Straße → ok", "Straße → ok"],
  ])("reads %s", (_, sent, read) => {
    const texts: string[] = [];
    const log = new WarningLog((text) => texts.push(text));
    log.take(`299 - "${sent}"`, { method: "GET", path: "/version" });
    expect(texts).toEqual([read]);
  });
});
