// What tests import as "fast-check": the library with the run's seed, so that a failure in one run can be repeated.
import fc from "../../node_modules/fast-check/lib/fast-check.js";

const seed = Number(process.env.SETPOINT_SEED);
if (Number.isInteger(seed)) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export * from "../../node_modules/fast-check/lib/fast-check.js";
export default fc;
