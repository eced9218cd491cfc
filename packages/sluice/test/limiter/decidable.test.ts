import { describe, expect, it } from 'vitest'
import { createLimiter, fixedWindow, memoryStore, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { withDividedLimit } from '../../src/stores/divided-limit.ts'

/** A store of somebody's own that says what it decides. */
const whole = memoryStore()
const stores = { own: { ...whole, name: 'own', capabilities: { ...whole.capabilities, algorithms: ['tb'] as const } } }
const windows = {
  'fixed-window': fixedWindow({ limit: 1, window: '1s' }),
  'sliding-window-counter': slidingWindowCounter({ limit: 1, window: '1s' }),
  'sliding-window-log': slidingWindowLog({ limit: 1, window: '1s' }),
}

describe.each(Object.entries(stores))('%s', (name, store) => {
  it.each(Object.entries(windows))('refuses a limiter with a %s, and says which limit and which store', (algorithm, limit) => {
    for (const wrapped of [store, withDividedLimit(store, 1)]) {
      const make = () =>
        createLimiter({ name: 'api', limits: { fine: tokenBucket({ rate: '1/s', burst: 1 }), odd: limit }, store: wrapped })
      expect(make).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
      expect(make).toThrow(`limiter api: limit odd is a ${algorithm}, which its store (${name}) cannot decide`)
    }
  })

  it('refuses a policy with one, at its start and in a reload, and takes rules that are off', () => {
    const policy = (mode: string) =>
      parsePolicy(`{ version: 1, rules: [{ name: odd, algorithm: fixed-window, limit: 5, window: 1m, key: [], mode: ${mode} }] }`)
    expect(() => createEngine({ policy: policy('shadow'), store })).toThrow(`rule odd is a fixed-window, which its store (${name})`)
    const engine = createEngine({ policy: policy('off'), store })
    expect(() => engine.reload(policy('enforce'))).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
    expect(engine.policy.rules[0]?.mode).toBe('off')
  })

  it('refuses a policy with an override of one, unless its rule is off', () => {
    const policy = (mode: string) =>
      parsePolicy(`version: 1
rules: [{ name: user, key: ["header:x-user"], rate: 1/s, burst: 9, mode: ${mode} }]
overrides: [{ rule: user, key: ada, rate: 2/s, burst: 9 }, { rule: user, key: partner, algorithm: fixed-window, limit: 5, window: 1m }]`)
    const message = `overrides[1] of rule user is a fixed-window, which its store (${name}) cannot decide`
    const refusal = expect.objectContaining({ code: 'NOT_SUPPORTED', message: expect.stringContaining(message) as string })
    expect(() => createEngine({ policy: policy('enforce'), store })).toThrow(refusal)
    const engine = createEngine({ policy: policy('off'), store })
    expect(() => engine.reload(policy('shadow'))).toThrow(refusal)
  })
})
