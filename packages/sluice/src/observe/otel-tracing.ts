import { checkOptions, type Form, having, requireForm } from '../errors/options.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import { systemTime } from '../time/system.ts'
import type { Time } from '../time/time.ts'
import type { DecisionEvent, Observer } from './events.ts'
import { attributesOf, type OtelAttributes, PREFIX } from './otel-attributes.ts'

/** The method that is used of OpenTelemetry's `Tracer`. */
export interface OtelTracer {
  /** Begins a span under the caller's active span. Times are milliseconds since 1970. */
  startSpan(name: string, options: { readonly kind: 0; readonly startTime: number; readonly attributes: OtelAttributes }): OtelSpan
}

/** The methods that are used of OpenTelemetry's `Span`. */
export interface OtelSpan {
  /** Marks the span as an error. */
  setStatus(status: { readonly code: 2; readonly message: string }): unknown
  /** Milliseconds since 1970. */
  end(endTime: number): void
}

/** Options of `otelTracing`. */
export interface OtelTracingOptions {
  /** For example `trace.getTracer('sluice')` of `@opentelemetry/api`. */
  readonly tracer: OtelTracer
  /** For the times of spans; default the system's clock. */
  readonly clock?: Pick<Time, 'now'> | undefined
}

/** Records decisions as spans. */
export interface OtelTracing extends Observer {
  /** Records a span for the decision. */
  onDecision(event: DecisionEvent): void
}

const TRACER = having('a tracer of OpenTelemetry, with startSpan', 'startSpan')
const FORMS: Readonly<Record<string, Form>> = { tracer: TRACER, clock: having('a clock with now', 'now') }
/** `SpanKind.INTERNAL` and `SpanStatusCode.ERROR` of `@opentelemetry/api`. */
const [INTERNAL, ERROR] = [0, 2] as const

/**
 * A span of OpenTelemetry for each decision. Its parent is the span that is active where the limiter is called. Only a failed store is an
 * error, not a denial.
 * @throws LimiterError INVALID_OPTIONS
 */
export function otelTracing(options: OtelTracingOptions): OtelTracing {
  checkOptions('otelTracing', options, FORMS)
  requireForm('otelTracing', 'tracer', options.tracer, TRACER)
  const { tracer, clock = systemTime } = options
  return {
    onDecision(event) {
      const endTime = clock.now() / MICROS_PER_MS
      const startTime = endTime - event.durationMs
      const span = tracer.startSpan(`${PREFIX}.decision`, { kind: INTERNAL, startTime, attributes: spanAttributes(event) })
      const { degraded } = event.decision
      // An aborted call is no failure of the store. The failure's message may quote a server's reply, so it is left out.
      if (degraded !== undefined && degraded.kind !== 'aborted') span.setStatus({ code: ERROR, message: degraded.kind })
      span.end(endTime)
    },
  }
}

function spanAttributes(event: DecisionEvent): OtelAttributes {
  const { decision, store, route } = event
  const attributes: OtelAttributes = {
    ...attributesOf(event).request,
    [`${PREFIX}.store`]: store,
    [`${PREFIX}.source`]: decision.source,
    [`${PREFIX}.allowed`]: decision.allowed,
  }
  if (route !== undefined) attributes[`${PREFIX}.route`] = route
  if (decision.reason !== undefined) attributes[`${PREFIX}.reason`] = decision.reason
  if (decision.retryAfterMs !== undefined) attributes[`${PREFIX}.retry_after_ms`] = decision.retryAfterMs
  return attributes
}
