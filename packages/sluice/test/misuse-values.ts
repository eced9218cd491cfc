import { LimiterError } from '../src/errors/limiter-error.ts'
import { createLimiter, memoryStore, type Store, tokenBucket } from '../src/index.ts'
import * as policies from '../src/policy.ts'
import { pg } from '../src/stores/postgres/index.ts'
import { remoteMemory } from './remote-memory.ts'

export type Build = (...values: never[]) => unknown

/** Values that a program may pass by mistake, if it is without types or reads its environment. */
export const VALUES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['undefined', undefined],
  ['null', null],
  ['true', true],
  ['0', 0],
  ['5', 5],
  ['0.5', 0.5],
  ['-1', -1],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['""', ''],
  ['"x"', 'x'],
  ['"10"', '10'],
  ['[]', []],
  ['[null]', [null]],
  ['{}', {}],
  ['bare', Object.create(null)],
  ['date', new Date(0)],
  ['function', () => {}],
  ['symbol', Symbol('s')],
  ['bigint', 10n],
])
/** Which of these are right, by what an option is. */
export const COUNT = ['5']
export const MS = ['5', '0.5']
export const TEXT = ['""', '"x"', '"10"']
export const NAME = ['"x"', '"10"']
export const FN = ['function']
export const FLAG = ['true']
export const LIST = ['[]']
export const OBJECT = ['{}', 'bare', 'date']
export const NONE: readonly string[] = []
export const COST = ['5', '0.5']

export const limit = tokenBucket({ rate: '10/s', burst: 20 })
let charged = 0
/** How often a store of this file was called to charge or to change something. */
export const charges = (): number => charged
/** A memory store that counts these calls. */
function counted(): Store {
  const store = memoryStore()
  return {
    ...store,
    decide(groups, options) {
      if (options?.charge !== false) charged += 1
      return store.decide(groups, options)
    },
    decideNow(group, now) {
      charged += 1
      return store.decideNow(group, now)
    },
    change(changes, options) {
      charged += 1
      return store.change(changes, options)
    },
  }
}

export const limiter = createLimiter({ limit, store: counted() })
export const near = memoryStore()
export const far = remoteMemory(near)
export const raw = Object.assign(() => {}, {
  evalsha: async () => null,
  eval: async () => null,
  status: 'ready',
  on() {},
  once() {},
  callBuffer: async () => null,
})
export const port = { evalsha: async () => null, eval: async () => null }
export const sql = pg({ query: async () => ({ rows: [] }), connect: async () => ({}) } as never)
export const source = 'version: 1\nrules: [{ name: a, key: [ip:address], rate: 1/s, burst: 9 }]'
export const policy = policies.parsePolicy(source)
export const engine = policies.createEngine({ policy, store: counted() })
export const decision = await limiter.check('a')
export const denied = await createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }) }).check('a', { cost: 2 })
export const facts = { method: 'GET', path: '/', headers: {} }
export const trust = policies.trustProxies([])
export const reader = { method: () => 'GET', target: () => '/', headers: () => ({}) }

/** Undefined for a misuse that is reported as it should be. */
export async function complaint(run: () => unknown, allowed: boolean, place: RegExp): Promise<string | undefined> {
  try {
    await run()
    return allowed ? undefined : 'taken in silence'
  } catch (error) {
    if (!(error instanceof LimiterError) && !(error instanceof policies.PolicyError)) return String(error)
    if (allowed) return `refused: ${error.message}`
    return place.test(error.message) ? undefined : `without its place: ${error.message}`
  }
}
