/** Whether a host means this machine: `localhost`, `::1`, any of 127.0.0.0/8. Does not resolve names. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || LOOPBACK_RANGE.test(host);
}

const LOOPBACK_RANGE = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/;

/**
 * Whether the peer of a connection is on this machine. Not all of 127.0.0.0/8 counts: service mesh sidecars forward
 * outside requests from such an address (127.0.0.6).
 */
export function isLoopbackCaller(address: string | undefined): boolean {
  return address === "::1" || address === "127.0.0.1" || address === "::ffff:127.0.0.1";
}
