import { checkOptions, type Form, having, requireForm } from '../errors/options.ts'
import type { DecisionEvent, Observer, StoreEvent } from './events.ts'
import { attributesOf, type OtelAttributes, PREFIX } from './otel-attributes.ts'

/** The methods that are used of OpenTelemetry's `Meter`. */
export interface OtelMeter {
  /** An instrument that only grows. */
  createCounter(name: string, options: OtelInstrument): { add(value: number, attributes: OtelAttributes): void }
  /** An instrument for a distribution. */
  createHistogram(
    name: string,
    options: OtelInstrument & { readonly advice: { explicitBucketBoundaries: number[] } },
  ): { record(value: number, attributes: OtelAttributes): void }
}

/** Options of an OpenTelemetry instrument. */
export interface OtelInstrument {
  /** What is measured. */
  readonly description: string
  /** In UCUM notation, such as `s`; `{request}` counts requests. */
  readonly unit: string
}

/** Options of `otelMetrics`. */
export interface OtelMetricsOptions {
  /** For example `metrics.getMeter('sluice')` of `@opentelemetry/api`. */
  readonly meter: OtelMeter
}

/** Records decisions and store calls. */
export interface OtelMetrics extends Observer {
  /** Counts the decision, and records its duration. */
  onDecision(event: DecisionEvent): void
  /** Records the call's duration. */
  onStoreCall(event: StoreEvent): void
}

const METER = having('a meter of OpenTelemetry, with createCounter and createHistogram', 'createCounter', 'createHistogram')
const FORMS: Readonly<Record<string, Form>> = { meter: METER }

/** Seconds, finer than OpenTelemetry's default: a decision takes microseconds in memory. */
const SECONDS = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/**
 * Metrics of OpenTelemetry. Attributes never identify a client. Pass the result to a limiter or an engine as one of its `observers`.
 * @throws LimiterError INVALID_OPTIONS
 */
export function otelMetrics(options: OtelMetricsOptions): OtelMetrics {
  checkOptions('otelMetrics', options, FORMS)
  requireForm('otelMetrics', 'meter', options.meter, METER)
  const { meter } = options
  const requests = meter.createCounter(`${PREFIX}.requests`, {
    description: 'Requests by the result of their decision.',
    unit: '{request}',
  })
  const seconds = (name: string, description: string) =>
    meter.createHistogram(`${PREFIX}.${name}`, { description, unit: 's', advice: { explicitBucketBoundaries: [...SECONDS] } })
  const decisions = seconds('decision.duration', 'How long decisions took.')
  const calls = seconds('store.duration', 'How long calls of the store took, failed calls included.')
  return {
    onDecision(event) {
      const { request, decision } = attributesOf(event)
      requests.add(1, request)
      decisions.record(event.durationMs / 1_000, decision)
    },
    onStoreCall({ store, operation, durationMs, failure }) {
      const attributes = { [`${PREFIX}.store`]: store, [`${PREFIX}.operation`]: operation }
      calls.record(durationMs / 1_000, failure === undefined ? attributes : { ...attributes, 'error.type': failure })
    },
  }
}
