import { createEngine, type Engine, type EngineOptions, parsePolicy } from '../../src/policy.ts'
import type { RequestFacts } from '../../src/identity/request.ts'
import { type MemoryStore, memoryStore } from '../../src/stores/memory/memory-store.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

export interface BundleBench {
  readonly engine: Engine
  readonly clock: ManualClock
  readonly store: MemoryStore
}

/** An engine over a JSON policy, at 1000 s after 1970. */
export function bundleBench(json: unknown, options: Partial<EngineOptions> = {}): BundleBench {
  const clock = manualClock(1_000_000_000)
  const store = memoryStore({ clock, maxKeys: 10_000 })
  const policy = parsePolicy(typeof json === 'string' ? json : JSON.stringify(json), { format: 'json', now: 0 })
  return { engine: createEngine({ policy, store, clock, ...options }), clock, store }
}

/** A rule of a bundle with one bucket for all requests. `more` adds fields or replaces them. */
export function bare(config: object, more: object = {}): object {
  return { name: 'r', limit_keys: [], algorithm: 'token_bucket', algorithm_config: config, ...more }
}

/** Makes a whole bundle from specs by policy id. A spec without a selector matches every path. */
export function bundle(policies: Readonly<Record<string, object>>): object {
  const list = Object.entries(policies).map(([id, spec]) => ({ id, spec: { selector: { pathPrefix: '/' }, ...spec } }))
  return { bundle_version: 1, policies: list }
}

export const requestOf = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  method: 'GET',
  path: '/x',
  headers: {},
  ip: '192.0.2.1',
  ...more,
})
