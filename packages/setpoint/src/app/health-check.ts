/** One thing that must be so for the process to do its work. */
export interface HealthCheck {
  readonly name: string;
  /** Throws, or gives the reason why not; computed each time it is asked for. */
  check(): string | undefined | Promise<string | undefined>;
}
