import { createLimiter, memoryStore } from 'sluice'
import type { Promised } from '../../contestants/contestant.ts'
import { type Algorithm, limitUnder } from '../../contestants/limits.ts'
import { inTurn, type MemoryContestant } from './contestant.ts'

function algorithm(name: string, tag: Algorithm, promise: Promised): MemoryContestant {
  return {
    name,
    kind: 'ours',
    promise,
    open: (quotas, { keys, clock }) => {
      const ports = clock === undefined ? {} : { clock }
      const limiters = quotas.map((quota) => {
        const store = memoryStore({ maxKeys: Math.max(1_000, keys), maxBytes: 2 ** 31, ...ports })
        const limiter = createLimiter({ name: 'bench', limit: limitUnder(tag, quota), store, ...ports })
        return (key: string, cost: number): boolean => (cost === 1 ? limiter.checkSync(key) : limiter.checkSync(key, { cost })).allowed
      })
      return { decide: inTurn(limiters) }
    },
  }
}

export const sluiceBucket: MemoryContestant = algorithm('Sluice, token bucket', 'token-bucket', 'bucket')
export const sluiceWindow: MemoryContestant = algorithm('Sluice, fixed window', 'fixed-window', 'window')
export const sluiceLog: MemoryContestant = algorithm('Sluice, sliding log', 'sliding-window-log', 'log')
