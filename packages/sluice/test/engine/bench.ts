import { createEngine, type Engine, type EngineOptions } from '../../src/policy.ts'
import type { RequestFacts } from '../../src/identity/request.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { type MemoryStore, memoryStore } from '../../src/stores/memory/memory-store.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

export interface Bench {
  readonly engine: Engine
  readonly clock: ManualClock
  readonly store: MemoryStore
}

export function bench(rules: string, options: Partial<EngineOptions> = {}, maxKeys = 1_000): Bench {
  const clock = manualClock()
  const store = memoryStore({ clock, maxKeys })
  return { engine: createEngine({ policy: parsePolicy(`version: 1\n${rules}`), store, clock, ...options }), clock, store }
}

export const facts = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  method: 'GET',
  path: '/api/items',
  headers: {},
  ip: '192.0.2.1',
  ...more,
})

/** A limit for all and one per address. */
export const TWO = `
rules:
  - { name: global, key: [], rate: 100/s, burst: 10 }
  - { name: per-ip, key: ["ip:address"], rate: 1/s, burst: 3 }
`
