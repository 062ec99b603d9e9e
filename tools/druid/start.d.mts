/** See start.mjs. */
export interface DruidServers extends AsyncDisposable {
  /** The URL of the router. */
  readonly url: string;
  /** The bootstrap server of Kafka. */
  readonly kafka: string;
  readonly dir: string;
  readonly pids: readonly number[];
  /** Writes lines of text to a topic, and creates the topic. */
  produce(topic: string, lines: readonly string[]): void;
  stop(): Promise<void>;
}

export function startDruid(options?: { readonly kafka?: boolean; readonly dir?: string }): Promise<DruidServers>;
