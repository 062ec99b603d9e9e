// Imports the module in its argument and prints the cost.
const MEGABYTE = 1024 * 1024;
const [, , url] = process.argv;

globalThis.gc();
const before = process.memoryUsage();
const startedMs = performance.now();
await import(url);
const ms = performance.now() - startedMs;
const rssMB = (process.memoryUsage().rss - before.rss) / MEGABYTE;
globalThis.gc();
const heapMB = (process.memoryUsage().heapUsed - before.heapUsed) / MEGABYTE;
console.log(JSON.stringify({ ms, rssMB, heapMB }));
