/** Whether a host names the machine that it is used on: `localhost`, `::1`, any of 127.0.0.0/8. Names are not looked up. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || LOOPBACK_RANGE.test(host);
}

const LOOPBACK_RANGE = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/;

/**
 * Whether the caller at the other end of a connection is on this machine. Not all of 127.0.0.0/8: the sidecars of a
 * mesh hand on what comes from elsewhere under an address of it (127.0.0.6).
 */
export function isLoopbackCaller(address: string | undefined): boolean {
  return address === "::1" || address === "127.0.0.1" || address === "::ffff:127.0.0.1";
}
