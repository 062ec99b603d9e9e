/** One thing that must be so for the process to do its work. */
export interface HealthCheck {
  readonly name: string;
  /**
   * Gives the reason why not, which everybody can read; what it throws is logged instead. Computed each time it is asked for,
   * but not again while it has not answered; five seconds without an answer are a failure.
   */
  check(): string | undefined | Promise<string | undefined>;
}
