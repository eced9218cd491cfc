import { describe, expect, it } from 'vitest'
import { LimiterError } from '../../../src/errors/limiter-error.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { remoteStore, withCoalescing } from '../../../src/stores/remote/remote-store.ts'
import { StoreFailure } from '../../../src/stores/store.ts'
import { farStore } from './far-store.ts'
import { settle } from './held-store.ts'
import { group, outcomeOf, ringBench } from './ring-bench.ts'

describe('batches that fail', () => {
  it('give each caller the failure', async () => {
    const { ring, calls } = ringBench()
    const answers = [ring.decide([group('a')]), ring.decide([group('b'), group('c')])]
    await settle()
    const failure = new StoreFailure('readonly', 'no', 'no')
    await calls[0]?.fail(failure)
    expect(await Promise.all(answers)).toEqual([[{ failure }], [{ failure }, { failure }]])
  })

  it('reject if the store has a defect, and the next are sent', async () => {
    const { ring, ask, calls } = ringBench()
    const defect = ring.decide([group('a')])
    await settle()
    await calls[0]?.fail(new TypeError('a bug'))
    await expect(defect).rejects.toThrow(TypeError)
    const next = ask('a')
    await settle()
    await calls[1]?.answer()
    expect(next.outcomes).toEqual(['allowed'])
  })

  it("leave a misuse to the caller's call that made it", async () => {
    const { ring, ask, calls, sent } = ringBench()
    const [a, wrong, b] = [ask('a'), ring.decide([group('wrong')]), ask('b')]
    await settle()
    await calls.shift()?.fail(new LimiterError('INVALID_OPTIONS', 'wrong'))
    expect(sent()).toEqual([['a'], ['wrong'], ['b']])
    await calls[1]?.fail(new LimiterError('INVALID_OPTIONS', 'wrong'))
    await calls[0]?.answer()
    await calls[2]?.answer()
    await expect(wrong).rejects.toThrow(LimiterError)
    expect([a.outcomes, b.outcomes]).toEqual([['allowed'], ['allowed']])
  })

  it('are not sent again for a misuse that is reported after their deadline', async () => {
    const { ask, calls, sent, pass } = ringBench()
    const late = [ask('a', { deadline: 20 }), ask('b', { deadline: 20 })]
    await settle()
    await pass(22)
    expect(late.map(({ outcomes }) => outcomes)).toEqual([['timeout unknown'], ['timeout unknown']])
    await calls.shift()?.fail(new LimiterError('INVALID_OPTIONS', 'wrong'))
    ask('c')
    await settle()
    expect(sent()).toEqual([['c']])
  })

  it('are not sent again for callers that have left before the misuse is reported', async () => {
    const { ask, calls, sent } = ringBench()
    const leaving = new AbortController()
    const [left, stays] = [ask('a', { signal: leaving.signal }), ask('b')]
    await settle()
    leaving.abort()
    await settle()
    await calls.shift()?.fail(new LimiterError('INVALID_OPTIONS', 'wrong'))
    expect(sent()).toEqual([['b']])
    await calls[0]?.answer()
    expect([left.outcomes, stays.outcomes]).toEqual([['aborted unknown'], ['allowed']])
  })

  it('fail for thousands of calls of a store that throws at once', async () => {
    const far = farStore(memoryStore())
    const store = {
      ...far,
      decide: () => {
        throw new StoreFailure('connection', 'unknown', 'gone')
      },
    }
    const ring = remoteStore(store, { batching: false, breaker: false })
    const verdicts = await Promise.all(Array.from({ length: 5_000 }, () => ring.decide([group('a')])))
    expect(new Set(verdicts.map(([verdict]) => verdict?.failure?.kind))).toEqual(new Set(['connection']))
  })

  it('are hurt by no store that throws at once or answers nonsense: callers learn of it, and the next are answered', async () => {
    const memory = farStore(memoryStore())
    let answer: (() => Promise<never>) | undefined
    const ring = withCoalescing({ ...memory, decide: (all, options) => answer?.() ?? memory.decide(all, options) })
    const both = async (): Promise<unknown[]> =>
      (await Promise.all(['a', 'b'].map((key) => ring.decide([group(key)])))).flat().map(outcomeOf)
    answer = () => {
      throw new StoreFailure('readonly', 'no', 'thrown')
    }
    expect(await both()).toEqual(['readonly no', 'readonly no'])
    for (const nonsense of [[], undefined, [null, undefined], 'yes', [1, 2]]) {
      answer = () => Promise.resolve(nonsense as never)
      expect(await both()).toEqual(['protocol unknown', 'protocol unknown'])
    }
    answer = undefined
    expect(await both()).toEqual(['allowed', 'allowed'])
    await ring.close()
  })
})
