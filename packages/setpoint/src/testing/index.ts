export {
  type Fault,
  type FaultPlan,
  faultTransport,
  randomFaults,
  scriptedFaults,
} from "../client/transport/fault-transport.js";
export { VirtualClock } from "../clock/virtual-clock.js";
export { conversionProblems } from "./conversion-problems.js";
export { errorAnswer } from "./error-answer.js";
export { OperatorProcess, type RequestFault, type SentRequest } from "./operator-process.js";
export { type EnvironmentSnapshot, TestEnvironment, type TestEnvironmentOptions } from "./test-environment.js";
