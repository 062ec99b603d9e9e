import { messageOf } from "../../loop/outcome.js";

/** The part of OpenTelemetry's `SpanContext` that links need. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** The part of OpenTelemetry's `Span` that Setpoint uses. */
export interface Span {
  spanContext(): SpanContext;
  setAttribute(key: string, value: string | number | boolean): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  addLink?(link: { context: SpanContext }): unknown;
  end(): void;
}

/** The part of OpenTelemetry's `Tracer` that Setpoint uses: `trace.getTracer("setpoint")` of @opentelemetry/api is one. */
export interface Tracer {
  startSpan(
    name: string,
    options?: {
      attributes?: Record<string, string | number | boolean>;
      links?: { context: SpanContext }[];
    },
    // biome-ignore lint/suspicious/noExplicitAny: OpenTelemetry's own Context, which we only hand on
    context?: any,
  ): Span;
}

/** Masks secrets in a text. */
export interface TextMask {
  text(text: string): string;
}

/** A state of an object that an event showed; its writer may be known. */
export interface SpanOrigin {
  readonly source: string;
  readonly key: string;
  readonly resourceVersion: string;
}

/** OpenTelemetry's `SpanStatusCode.ERROR`. */
const ERROR_STATUS = 2;
/** How many writes to remember by their resourceVersion. */
const MAX_WRITES = 10_000;

type Attributes = Record<string, string | number | boolean>;

/**
 * Spans of one process: each reconcile with its writes, linked to the writes that caused it. A write is recognized by
 * its resourceVersion, never by anything on the object.
 */
export class Traces {
  readonly #tracer: Tracer;
  readonly #mask: TextMask;
  /** The span that wrote each state. The oldest is dropped first. */
  readonly #writes = new Map<string, SpanContext>();

  constructor(tracer: Tracer, mask: TextMask) {
    this.#tracer = tracer;
    this.#mask = mask;
  }

  reconcile(controller: string, key: string, attributes: Attributes, origins: readonly SpanOrigin[]): RunSpan {
    const known = origins.flatMap((origin) => this.#writerOf(origin) ?? []);
    const span = this.#tracer.startSpan(`reconcile ${controller}`, {
      attributes: { "setpoint.controller": controller, "setpoint.object": key, ...attributes },
      links: known.map((context) => ({ context })),
    });
    // A watch may be faster than the response to the write: unknown origins are known by the end of the run.
    const late = origins.filter((origin) => !this.#writerOf(origin));
    const parent = contextWith(span);
    return {
      write: (verb, source, object, request) => this.#write(verb, source, object, parent, request),
      end: (outcome, error) => {
        for (const context of late.flatMap((origin) => this.#writerOf(origin) ?? [])) span.addLink?.({ context });
        span.setAttribute("setpoint.outcome", outcome);
        if (error !== undefined) span.setStatus({ code: ERROR_STATUS, message: this.#mask.text(error) });
        span.end();
      },
    };
  }

  async #write<Answer>(
    verb: string,
    source: string,
    key: string,
    parent: unknown,
    request: () => Promise<Answer>,
  ): Promise<Answer> {
    const attributes = { "setpoint.kind": source, "setpoint.object": key };
    const span = this.#tracer.startSpan(`${verb} ${source}`, { attributes }, parent);
    try {
      const answer = await request();
      const resourceVersion = resourceVersionOf(answer);
      if (resourceVersion) this.#remember({ source, key, resourceVersion }, span.spanContext());
      return answer;
    } catch (error) {
      // A server quotes what it refuses.
      span.setStatus({ code: ERROR_STATUS, message: this.#mask.text(messageOf(error)) });
      throw error;
    } finally {
      span.end();
    }
  }

  #remember(origin: SpanOrigin, context: SpanContext): void {
    this.#writes.set(idOf(origin), context);
    if (this.#writes.size > MAX_WRITES) this.#writes.delete(this.#writes.keys().next().value!);
  }

  #writerOf(origin: SpanOrigin): SpanContext | undefined {
    return this.#writes.get(idOf(origin));
  }
}

/** The span of one running reconcile. */
export interface RunSpan {
  write<Answer>(verb: string, source: string, key: string, request: () => Promise<Answer>): Promise<Answer>;
  end(outcome: string, error?: string): void;
}

function idOf({ source, key, resourceVersion }: SpanOrigin): string {
  return `${source} ${key} ${resourceVersion}`;
}

function resourceVersionOf(answer: unknown): string | undefined {
  return (answer as { metadata?: { resourceVersion?: string } } | undefined)?.metadata?.resourceVersion;
}

/**
 * OpenTelemetry finds a parent under this key. The symbol is registered globally, so that all copies of OpenTelemetry
 * share it.
 */
const SPAN_KEY = Symbol.for("OpenTelemetry Context Key SPAN");

/** An OpenTelemetry `Context` with a span, made without importing its API. */
function contextWith(span: Span): unknown {
  return contextOf(new Map([[SPAN_KEY, span]]));
}

function contextOf(values: ReadonlyMap<symbol, unknown>): unknown {
  return {
    getValue: (key: symbol) => values.get(key),
    setValue: (key: symbol, value: unknown) => contextOf(new Map([...values, [key, value]])),
    deleteValue: (key: symbol) => contextOf(new Map([...values].filter(([other]) => other !== key))),
  };
}
