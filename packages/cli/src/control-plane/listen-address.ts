import { isIP } from "node:net";
import { UsageError } from "setpoint/command";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:6443`, `[::1]:6443`, `localhost:0`. Throws a `UsageError` for anything else. */
export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) {
    throw new UsageError(`--listen ${text}: expected HOST:PORT, such as 127.0.0.1:6443 or [::1]:0`);
  }
  return { host, port };
}
