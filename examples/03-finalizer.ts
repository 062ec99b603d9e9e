/** Undoes work outside the cluster before the object is deleted, even if that happened while the operator was down. */
import { controller, k8s, resource, run } from "setpoint";
import { z } from "zod";

// `finalize` gets the latest spec only: a field that identifies the record must be immutable, or old records stay
// forever.
const host = z.string().meta(k8s.rules(k8s.rule("self == oldSelf", "cannot change: create another DnsRecord")));

export const DnsRecord = resource("dns.example.com/v1/DnsRecord", {
  spec: z.object({ host, address: z.string() }),
});

/** The external system: a client of any DNS provider. Both calls may be repeated. */
export interface Dns {
  put(host: string, address: string, signal: AbortSignal): Promise<void>;
  remove(host: string, signal: AbortSignal): Promise<void>;
}

export const dnsRecords = (dns: Dns) =>
  controller(DnsRecord, {
    async reconcile({ spec }, ctx) {
      await ctx.effect("put record", (signal) => dns.put(spec.host, spec.address, signal));
    },
    // Adds the finalizer setpoint.dev/dnsrecords before the first reconcile, and removes it when this function is done.
    async finalize({ spec }, ctx) {
      await ctx.effect("remove record", (signal) => dns.remove(spec.host, signal));
    },
  });

if (process.argv[1] === import.meta.filename) {
  const records = new Map<string, string>();
  const put: Dns["put"] = async (host, address) => void records.set(host, address);
  const remove: Dns["remove"] = async (host) => void records.delete(host);
  await run(dnsRecords({ put, remove }));
}
