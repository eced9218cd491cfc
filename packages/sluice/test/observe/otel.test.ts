import {
  context,
  type Context,
  type ContextManager,
  type Meter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Decision, type DecisionEvent, memoryStore, type Observer, tokenBucket } from '../../src/index.ts'
import { otelMetrics, otelTracing } from '../../src/observe.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore } from '../remote-memory.ts'

interface Point {
  readonly attributes: Record<string, unknown>
  readonly value: unknown
}

function metered() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  onTestFinished(() => provider.shutdown())
  const meter: Meter = provider.getMeter('sluice')
  return {
    metrics: otelMetrics({ meter }),
    async read() {
      await reader.forceFlush()
      const all = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []
      return new Map(all.map(({ descriptor, dataPoints }) => [descriptor.name, { descriptor, points: dataPoints as readonly Point[] }]))
    },
  }
}

function traced() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  onTestFinished(() => provider.shutdown())
  const tracer: Tracer = provider.getTracer('sluice')
  return { tracer, tracing: otelTracing({ tracer }), spans: () => exporter.getFinishedSpans() }
}

const limiterOf = (observer: Observer, store = memoryStore()) =>
  createLimiter({ name: 'api', limits: { user: tokenBucket({ rate: '1/h', burst: 2 }) }, store, observers: [observer] })

describe('otelMetrics, through the SDK', () => {
  it('counts each request once by its result, with the rule that refused it', async () => {
    const { metrics, read } = metered()
    const limiter = limiterOf(metrics)
    for (let nth = 0; nth < 3; nth += 1) await limiter.check('somebody')
    await limiter.check('somebody', { cost: 5 })
    const { descriptor, points } = (await read()).get('sluice.rate_limiting.requests') ?? {}
    expect(descriptor).toMatchObject({ unit: '{request}', type: 'COUNTER' })
    const [policy, result, rule] = ['policy', 'result', 'rule'].map((name) => `sluice.rate_limiting.${name}`) as [string, string, string]
    expect(points?.map(({ attributes, value }) => [attributes, value])).toEqual([
      [{ [policy]: 'api', [result]: 'allowed' }, 2],
      [{ [policy]: 'api', [result]: 'denied', [rule]: 'user' }, 1],
      [{ [policy]: 'api', [result]: 'impossible', [rule]: 'user' }, 1],
    ])
  })

  it('records durations in seconds, in the advised buckets, by store and result', async () => {
    const { metrics, read } = metered()
    await limiterOf(metrics).check('somebody')
    const all = await read()
    for (const [name, attributes] of [
      ['decision', { 'sluice.rate_limiting.store': 'memory', 'sluice.rate_limiting.result': 'allowed' }],
      ['store', { 'sluice.rate_limiting.store': 'memory', 'sluice.rate_limiting.operation': 'decide' }],
    ] as const) {
      const { descriptor, points } = all.get(`sluice.rate_limiting.${name}.duration`) ?? {}
      expect(descriptor).toMatchObject({ unit: 's', type: 'HISTOGRAM' })
      const histogram = (points?.[0]?.value ?? {}) as { buckets?: { boundaries: number[] }; count?: number }
      const { buckets: { boundaries = [] } = {}, count } = histogram
      expect([boundaries[0], boundaries.at(-1), boundaries]).toEqual([0.000_05, 1, boundaries.toSorted((a, b) => a - b)])
      expect([points?.[0]?.attributes, count]).toEqual([attributes, 1])
    }
  })

  it('reports a failed store as error.type, and a shadow rule that would have refused as shadow_denied', async () => {
    const { metrics, read } = metered()
    await limiterOf(metrics, failingStore() as ReturnType<typeof memoryStore>).check('somebody')
    const policy = parsePolicy('version: 1\nrules:\n  - { name: s, key: [], rate: 1/h, burst: 1, mode: shadow }\n')
    const engine = createEngine({ policy, store: memoryStore(), observers: [metrics] })
    for (let nth = 0; nth < 2; nth += 1) await engine.decide({ method: 'GET', path: '/', headers: {} })
    const points = (await read()).get('sluice.rate_limiting.requests')?.points ?? []
    expect(
      points.map(({ attributes }) => [
        attributes['sluice.rate_limiting.result'],
        attributes['sluice.rate_limiting.rule'],
        attributes['error.type'],
      ]),
    ).toEqual([
      ['undecided', undefined, 'connection'],
      ['allowed', undefined, undefined],
      ['shadow_denied', 's', undefined],
    ])
  })

  it('makes as many series for a million keys as for one, and never names a key', async () => {
    const { metrics, read } = metered()
    const limiter = limiterOf(metrics)
    for (let nth = 0; nth < 1_000; nth += 1) await limiter.check(`somebody-${nth}`)
    const all = await read()
    expect([...all].map(([name, { points }]) => [name, points.length])).toEqual([
      ['sluice.rate_limiting.requests', 1],
      ['sluice.rate_limiting.decision.duration', 1],
      ['sluice.rate_limiting.store.duration', 1],
    ])
    expect(JSON.stringify([...all])).not.toContain('somebody')
  })
})

/** Keeps the OpenTelemetry context across promises, as the SDK for Node.js does. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT
  with = ((active: Context, fn: (...given: unknown[]) => unknown, self: unknown, ...given: unknown[]) =>
    this.#storage.run(active, () => fn.apply(self, given))) as ContextManager['with']
  bind = <T>(_: Context, target: T): T => target
  enable = (): this => this
  disable = (): this => this
}

describe('otelTracing, through the SDK', () => {
  afterEach(() => context.disable())

  it('makes an internal span for each decision, below the span of the caller, which it leaves as it is', async () => {
    context.setGlobalContextManager(new Contexts())
    const { tracer, tracing, spans } = traced()
    const limiter = limiterOf(tracing)
    const server = tracer.startSpan('GET /', { kind: SpanKind.SERVER })
    await context.with(trace.setSpan(context.active(), server), async () => {
      await Promise.resolve()
      for (let nth = 0; nth < 3; nth += 1) await limiter.check('somebody')
    })
    server.end()
    const [, , denied, parent] = spans()
    expect(spans().map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
      ...Array.from({ length: 3 }, () => ['sluice.rate_limiting.decision', SpanKind.INTERNAL, SpanStatusCode.UNSET]),
      ['GET /', SpanKind.SERVER, SpanStatusCode.UNSET],
    ])
    expect(denied?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId)
    expect(denied?.attributes).toEqual({
      'sluice.rate_limiting.policy': 'api',
      'sluice.rate_limiting.result': 'denied',
      'sluice.rate_limiting.rule': 'user',
      'sluice.rate_limiting.store': 'memory',
      'sluice.rate_limiting.source': 'store',
      'sluice.rate_limiting.allowed': false,
      'sluice.rate_limiting.reason': 'quota',
      'sluice.rate_limiting.retry_after_ms': expect.any(Number),
    })
    expect(parent?.attributes).toEqual({})
  })

  it('ends now and began a duration ago', () => {
    const clock = manualClock()
    const { tracer, spans } = traced()
    const decision = { outcome: 'allowed', allowed: true, source: 'store', limits: [] } as unknown as Decision
    const event: DecisionEvent = { limiter: 'api', store: 'memory', decision, results: [], durationMs: 12.5, route: '/users/{id}' }
    otelTracing({ tracer, clock }).onDecision(event)
    const [span] = spans()
    const ms = ([seconds, nanos]: readonly [number, number] = [0, 0]): number => seconds * 1e3 + nanos / 1e6
    expect([ms(span?.endTime), ms(span?.endTime) - ms(span?.startTime)]).toEqual([clock.now() / 1_000, expect.closeTo(12.5, 2)])
    expect(span?.attributes['sluice.rate_limiting.route']).toBe('/users/{id}')
  })

  it.each([
    ['connection', SpanStatusCode.ERROR],
    ['aborted', SpanStatusCode.UNSET],
  ])('is an error only where the store failed: %s', (kind, code) => {
    const { tracing, spans } = traced()
    const decision = {
      outcome: 'undecided',
      allowed: true,
      source: 'fallback',
      limits: [],
      degraded: { kind, executed: 'no', message: 'somebody' },
    }
    tracing.onDecision({ limiter: 'api', store: 'redis', decision: decision as unknown as Decision, results: [], durationMs: 1 })
    expect(spans()[0]?.status).toEqual(code === SpanStatusCode.ERROR ? { code, message: kind } : { code })
    expect(spans()[0]?.attributes['error.type']).toBe(kind)
    expect(JSON.stringify(spans()[0]?.attributes)).not.toContain('somebody')
  })
})
