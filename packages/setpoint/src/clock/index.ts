export type { Clock, Timer } from "./clock.js";
export { parseDuration } from "./duration.js";
export { type Random, seededRandom, systemRandom } from "./random.js";
export { afterInput, systemClock } from "./system-clock.js";
export { type TimeoutSignal, timeoutSignal } from "./timeout-signal.js";
