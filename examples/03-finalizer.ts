/** What lies outside the cluster is undone before the object goes, also when the operator was down meanwhile. */
import { controller, resource, run } from "setpoint";
import { z } from "zod";

export const DnsRecord = resource("dns.example.com/v1/DnsRecord", {
  spec: z.object({ host: z.string(), address: z.string() }),
});

/** The world outside: any client of a DNS provider. */
export interface Dns {
  put(host: string, address: string, signal: AbortSignal): Promise<void>;
  remove(host: string, signal: AbortSignal): Promise<void>;
}

export const dnsRecords = (dns: Dns) =>
  controller(DnsRecord, {
    finalizer: "dns.example.com/record",
    async reconcile({ spec }, ctx) {
      await ctx.effect("put record", (signal) => dns.put(spec.host, spec.address, signal));
    },
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
