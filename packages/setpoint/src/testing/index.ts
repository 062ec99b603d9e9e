export {
  type Fault,
  type FaultPlan,
  faultTransport,
  randomFaults,
  scriptedFaults,
} from "../client/fault-transport.js";
export { VirtualClock } from "../clock/virtual-clock.js";
