/** What lies outside the cluster is undone before the object goes, even if it was deleted while the operator was down. */
import { controller, k8s, resource, run } from "setpoint";
import { z } from "zod";

// `finalize` sees the latest spec alone: what a record is found by must not change, or the old record would stay for good.
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
    // With it, the finalizer setpoint.dev/dnsrecords is added before the first reconcile, and removed when this is done.
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
