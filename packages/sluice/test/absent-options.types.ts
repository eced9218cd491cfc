import type { FastifyOptions, FastifyPluginOptions, FastifyRouteOptions } from '../src/adapters/fastify.ts'
import type { FetchOptions } from '../src/adapters/fetch.ts'
import type { HonoOptions } from '../src/adapters/hono.ts'
import type { KoaContext, KoaOptions } from '../src/adapters/koa.ts'
import type { NestOptions, RateLimitAsyncOptions, RateLimitModuleOptions, RouteOptions } from '../src/adapters/nest.ts'
import type { NodeOptions, NodeRequest, NodeResponse } from '../src/adapters/node.ts'
import type { GateOptions } from '../src/http.ts'
import * as sluice from '../src/index.ts'
import type { MetricsOptions, OtelTracingOptions } from '../src/observe.ts'
import type { ChannelOptions, ChannelWait, FunctionOptions, ItemOptions, PacingOptions } from '../src/pacing.ts'
import type * as policies from '../src/policy.ts'
import type { MigrateOptions, PostgresStoreOptions } from '../src/postgres.ts'
import type { DistributedRateLimiterOptions, PackingOptions, RedisStoreOptions } from '../src/redis.ts'
import type { RegionalStoreOptions, ReplicateOptions, ReweighOptions } from '../src/regions.ts'
import type { BatchingOptions, BreakerOptions, DenialOptions, LeaseOptions, RemoteStoreOptions } from '../src/remote.ts'
import type { StoreSuiteOptions, TraceOptions } from '../src/testing.ts'

/**
 * This file compiles if every option that may be absent may also be `undefined`, under `exactOptionalPropertyTypes`. It is never run. The
 * check `types` fails if a line does not compile.
 */
const limiter = sluice.createLimiter({ limit: sluice.tokenBucket({ rate: '10/s', burst: 20 }), store: undefined, observers: undefined })
void limiter.check('k', { cost: undefined, signal: undefined, id: undefined })
void limiter.checkMany([{ key: 'k', cost: undefined }], { deadlineMs: undefined })

/** The names of the options that may be absent. */
type Optional<Options> = { [Name in keyof Options]-?: object extends Pick<Options, Name> ? Name : never }[keyof Options]
/** True, or the names of the options that may be absent, but not undefined. */
type Taken<Options> = {
  [Name in Optional<Options>]: { [Same in Name]: undefined } extends Pick<Options, Name> ? never : Name
}[Optional<Options>]

function takes<Options>(...refused: [Taken<Options>] extends [never] ? [] : [Taken<Options>]): Options | undefined {
  return refused[0] === undefined ? undefined : (refused[0] as Options)
}

takes<sluice.LimiterOptions>()
takes<sluice.MemoryStoreOptions>()
takes<sluice.FixedWindowOptions>()
takes<sluice.WaitOptions>()
takes<sluice.CheckOptions>()
takes<sluice.CheckRequest>()
takes<sluice.OnceOptions>()
takes<sluice.MaxWaitOptions>()
takes<sluice.PeekOptions>()
takes<sluice.RefundOptions>()
takes<sluice.ReserveOptions>()

takes<RedisStoreOptions>()
takes<PackingOptions>()
takes<DistributedRateLimiterOptions>()
takes<PostgresStoreOptions>()
takes<MigrateOptions>()
takes<RemoteStoreOptions>()
takes<BatchingOptions>()
takes<BreakerOptions>()
takes<DenialOptions>()
takes<LeaseOptions>()
takes<RegionalStoreOptions>()
takes<ReplicateOptions>()
takes<ReweighOptions>()

takes<policies.EngineOptions>()
takes<policies.ParseOptions>()
takes<policies.CompileOptions>()
takes<policies.DecideOptions>()
takes<policies.HoldOptions>()
takes<policies.HeaderOptions>()
takes<policies.RequestFacts>()
takes<policies.KeyRequest>()
takes<policies.KeyTarget>()
takes<policies.OverrideFields>()

takes<PacingOptions>()
takes<FunctionOptions<[]>>()
takes<ItemOptions<string>>()
takes<ChannelOptions>()
takes<ChannelWait>()
takes<MetricsOptions>()
takes<OtelTracingOptions>()

takes<GateOptions<Request>>()
takes<NodeOptions<NodeRequest, NodeResponse>>()
takes<FastifyOptions<unknown, unknown>>()
takes<FastifyPluginOptions>()
takes<FastifyRouteOptions>()
takes<HonoOptions>()
takes<KoaOptions<KoaContext>>()
takes<NestOptions>()
takes<RateLimitModuleOptions>()
takes<RateLimitAsyncOptions>()
takes<RouteOptions>()
takes<FetchOptions<[]>>()

takes<TraceOptions>()
// Methods cannot be undefined: leave them out.
takes<Omit<StoreSuiteOptions, 'openFull' | 'close' | 'keepsTokens' | 'sweep'>>()
