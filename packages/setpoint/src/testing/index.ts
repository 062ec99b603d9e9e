export { VirtualClock } from "../clock/virtual-clock.js";
