import { createLimiter, type Limiter, tokenBucket } from 'sluice'
import { AsyncPlainBuckets, PlainBuckets } from '../baselines/plain-buckets.ts'
import { interleave, type Lane, type Timed } from '../interleave.ts'
import { ALLOWED, DENIED, limitOf, plainOf, type Profile } from '../profiles.ts'

export interface HotInput {
  readonly seconds: number
}

/** The admitted requests on one key in a flood that is far above the rate, and the number that is permitted. */
export interface Grant {
  readonly issued: number
  readonly admitted: number
  readonly permitted: number
}

export interface HotResult {
  /** In the order of `HOT_LANES`. */
  readonly lanes: readonly Timed[]
  readonly grants: { readonly sluice: Grant; readonly map: Grant }
}

const KEY = 'user:1000042'
const CALLS = 20_000
/** The batches of every lane (a measured limiter) that run before anything is counted. */
const WARM_UP = 10
/** The limit and the length of the flood. It admits some requests, but far fewer than are made. */
export const METERED = { rate: 10_000, burst: 100, seconds: 0.25 } as const

/** Compares `checkSync` with the Map under both profiles, and with the floors: the clock, and an empty decision. All run in one process. */
export async function compareHotKey({ seconds }: HotInput): Promise<HotResult> {
  const lanes = [mapLane(ALLOWED), sluiceLane(ALLOWED), mapLane(DENIED), sluiceLane(DENIED), clockLane(), answerLane()]
  const timed = await interleave(lanes, { calls: CALLS, warmUp: WARM_UP, seconds })
  const [limiter, buckets] = [meteredLimiter(), meteredBuckets()]
  const sluice = await metered(() => limiter.checkSync(KEY).allowed)
  return { lanes: timed, grants: { sluice, map: await metered(() => buckets.check(KEY).allowed) } }
}

/** Compares `check` with the Map behind an asynchronous store and an asynchronous caller. */
export async function compareAsync({ seconds }: HotInput): Promise<HotResult> {
  const lanes = [asyncMapLane(ALLOWED), asyncSluiceLane(ALLOWED), asyncMapLane(DENIED), asyncSluiceLane(DENIED), awaitLane()]
  const timed = await interleave(lanes, { calls: CALLS, warmUp: WARM_UP, seconds })
  const [limiter, buckets] = [meteredLimiter(), new AsyncPlainBuckets(meteredBuckets())]
  const sluice = await metered(async () => (await limiter.check(KEY)).allowed)
  return { lanes: timed, grants: { sluice, map: await metered(async () => (await buckets.check(KEY)).allowed) } }
}

function meteredLimiter(): Limiter {
  return createLimiter({ name: 'metered', limit: tokenBucket({ rate: { tokens: METERED.rate, per: '1s' }, burst: METERED.burst }) })
}

function meteredBuckets(): PlainBuckets {
  return new PlainBuckets(METERED.rate, METERED.burst)
}

function mapLane(profile: Profile): Lane {
  const buckets = plainOf(profile)
  if (profile.answer === 'denied') buckets.check(KEY)
  return {
    name: `Map, ${profile.name}`,
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if (buckets.check(KEY).allowed) allowed += 1
      return allowed
    },
  }
}

function sluiceLane(profile: Profile): Lane {
  const limiter = createLimiter({ name: profile.answer, limit: limitOf(profile) })
  if (profile.answer === 'denied') limiter.checkSync(KEY)
  return {
    name: `checkSync, ${profile.name}`,
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if (limiter.checkSync(KEY).allowed) allowed += 1
      return allowed
    },
  }
}

function asyncMapLane(profile: Profile): Lane {
  const buckets = plainOf(profile)
  if (profile.answer === 'denied') buckets.check(KEY)
  const caller = new AsyncPlainBuckets(buckets)
  return {
    name: `Map behind two async layers, ${profile.name}`,
    async run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if ((await caller.check(KEY)).allowed) allowed += 1
      return allowed
    },
  }
}

function asyncSluiceLane(profile: Profile): Lane {
  const limiter = createLimiter({ name: profile.answer, limit: limitOf(profile) })
  if (profile.answer === 'denied') limiter.checkSync(KEY)
  return {
    name: `check, ${profile.name}`,
    async run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if ((await limiter.check(KEY)).allowed) allowed += 1
      return allowed
    },
  }
}

/** A floor: every exact limiter must read the clock. */
function clockLane(): Lane {
  let last = 0
  return {
    name: 'the clock alone',
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) {
        const now = performance.now()
        if (now >= last) allowed += 1
        last = now
      }
      return allowed
    },
  }
}

/** A floor: the clock, and an answer with the fields of `Decision` but without any computation. */
function answerLane(): Lane {
  const kept: { at: number; limits: readonly object[] }[] = [{ at: 0, limits: [] }]
  return {
    name: 'the clock and an empty decision',
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) {
        const at = performance.now()
        const view = { name: 'default', limit: 1, remaining: at, replenishAfterMs: at, resetAfterMs: at, windowMs: 1 }
        const decision = { outcome: 'allowed', allowed: at >= 0, limits: [view], at, source: 'store' }
        // Kept until the next decision. Otherwise the compiler would not create the object.
        kept[0] = decision
        if (decision.allowed) allowed += 1
      }
      return allowed
    },
  }
}

function awaitLane(): Lane {
  const answer = async (): Promise<boolean> => performance.now() >= 0
  return {
    name: 'one async function and the clock',
    async run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if (await answer()) allowed += 1
      return allowed
    },
  }
}

/** How many requests `invoke` admits. The time is measured around all calls, so the permitted number is never too small. */
async function metered(invoke: () => boolean | Promise<boolean>): Promise<Grant> {
  let [issued, admitted] = [0, 0]
  const started = performance.now()
  const until = started + METERED.seconds * 1_000
  while (performance.now() < until) {
    issued += 1
    const answer = invoke()
    if (typeof answer === 'boolean' ? answer : await answer) admitted += 1
  }
  const elapsed = (performance.now() - started) / 1_000
  return { issued, admitted, permitted: Math.floor(METERED.burst + METERED.rate * elapsed) }
}
