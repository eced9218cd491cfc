import { createLimiter, type Limiter, memoryStore, tokenBucket } from 'sluice'
import type { Quota } from '../../contestants/contestant.ts'
import type { MemoryContestant, OpenOptions } from './contestant.ts'

/** Sluice without a promise, for callers that cannot await. */
export const sluiceSync: MemoryContestant = {
  name: 'Sluice, checkSync',
  kind: 'ours',
  open: (quotas, options) => {
    const limiter = limiterOf(quotas, options)
    return { decide: (key, cost) => (cost === 1 ? limiter.checkSync(key) : limiter.checkSync(key, { cost })).allowed }
  },
}

/** Sluice as its adapters call it. */
export const sluice: MemoryContestant = {
  name: 'Sluice, check',
  kind: 'ours',
  awaited: true,
  open: (quotas, options) => {
    const limiter = limiterOf(quotas, options)
    return { decide: async (key, cost) => (await (cost === 1 ? limiter.check(key) : limiter.check(key, { cost }))).allowed }
  },
}

/** The defaults, with room for all keys of the load: a full store would deny new ones. */
function limiterOf(quotas: readonly Quota[], { keys, clock }: OpenOptions): Limiter {
  const entries = quotas.map(({ tokens, per, burst }, index) => [`limit-${index}`, tokenBucket({ rate: { tokens, per }, burst })] as const)
  const ports = clock === undefined ? {} : { clock }
  const store = memoryStore({ maxKeys: Math.max(1_000, keys * quotas.length), ...ports })
  return createLimiter({ name: 'bench', limits: Object.fromEntries(entries), store, ...ports })
}
