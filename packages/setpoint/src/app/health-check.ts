/** One condition for the process to do its work. */
export interface HealthCheck {
  readonly name: string;
  /**
   * Returns why the condition is not met; everybody can read the reason. A thrown error goes to the log instead. Runs
   * at each request, but never twice at once. No answer within five seconds is a failure.
   */
  check(): string | undefined | Promise<string | undefined>;
}
