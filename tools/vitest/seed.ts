/** Before all tests: prints the seed of random tests, a new one each run unless SETPOINT_SEED is set. */
export function setup(): void {
  process.env.SETPOINT_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
  console.info(`random tests: SETPOINT_SEED=${process.env.SETPOINT_SEED} repeats this run`);
}
