import { setMaxListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CallGroup, type DecideOptions, type GroupVerdict, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { draws } from '../../draws.ts'
import { settle } from './held-store.ts'
import { call, outcomeOf } from './ring-bench.ts'

/** How the store treats one of its calls. */
const fate = fc.record({
  kind: fc.constantFrom('answers', 'answers', 'answers', 'answers', 'unsent', 'reset', 'refuses', 'hangs', 'nonsense'),
  /** Milliseconds until it settles; above the deadline too. */
  ms: fc.constantFrom(0, 0, 1, 1, 3, 8, 30, 70),
  /** One in so many groups is contended; 0 for none. */
  contended: fc.constantFrom(0, 0, 0, 2, 5),
})

const step = fc.record({
  costs: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 30 }),
  peeks: fc.constantFrom(false, false, false, false, true),
  /** Milliseconds; absent: the default. */
  deadline: fc.constantFrom(undefined, 0, 1, 5, 20, 50, 50, 200),
  stretch: fc.constantFrom(undefined, undefined, true as const),
  abortAfter: fc.option(fc.nat(40), { freq: 4 }),
  server: fc.constantFrom('a', 'a', 'a', 'b', 'ab'),
  /** Milliseconds until the next step. */
  after: fc.constantFrom(0, 0, 0, 1, 2, 7, 40),
})

const scenario = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
  fates: fc.array(fate, { minLength: 1, maxLength: 20 }),
  maxCalls: fc.constantFrom<number | false>(false, 1, 7, 128),
  maxQueued: fc.constantFrom(20, 10_000),
  breaker: fc.boolean(),
  lanes: fc.boolean(),
})

/** How one sending of a call ended, as the store saw it: a call may be sent several times. */
type Ending = 'in flight' | 'decided' | 'no' | 'unknown'

interface Caller {
  readonly keys: readonly string[]
  readonly peeks: boolean
  readonly latest: number
  readonly abortedAt: number
  answers: number
  answeredAt: number
  verdicts: readonly GroupVerdict[]
}

describe('a ring around a store that does anything', () => {
  it('sends no item twice unless it was not executed, and answers every caller once, by its deadline, with the truth', async () => {
    const seen = { resent: 0, overload: 0, aborted: 0, allowed: 0 }
    await fc.assert(
      fc.asyncProperty(scenario, async ({ steps, fates, maxCalls, maxQueued, breaker, lanes }) => {
        const clock = manualClock()
        const inner = memoryStore({ clock })
        const sendings = new Map<string, Ending[]>()
        let sent = 0
        const wire: { healthy?: (typeof fates)[number] } = {}
        const decide = async (groups: readonly CallGroup[], options: DecideOptions): Promise<readonly GroupVerdict[]> => {
          const { kind, ms, contended } = wire.healthy ?? (fates[sent++ % fates.length] as (typeof fates)[number])
          const charge = options.charge ?? true
          if (typeof maxCalls === 'number' && groups.length > 1 && charge) {
            expect(groups.reduce((sum, { calls }) => sum + calls.length, 0)).toBeLessThanOrEqual(maxCalls)
          }
          const set = groups.map((group): ((ending: Ending) => void) => {
            // A peek charges nothing, so it may be sent any number of times. Probes are peeks, too.
            if (!charge) return () => {}
            const endings = sendings.get(nameOf(group)) ?? []
            sendings.set(nameOf(group), endings)
            const at = endings.push('in flight') - 1
            return (ending) => (endings[at] = ending)
          })
          const end = (ending: Ending): void => set.forEach((one) => one(ending))
          if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve))
          if (kind === 'hangs') return new Promise(() => {})
          if (kind === 'nonsense') {
            end('unknown')
            return []
          }
          if (kind !== 'answers') {
            end(kind === 'reset' ? 'unknown' : 'no')
            if (kind === 'unsent') throw new StoreFailure('connection', 'no', 'away')
            throw kind === 'reset' ? new StoreFailure('connection', 'unknown', 'reset') : new StoreFailure('readonly', 'no', 'a replica')
          }
          const verdicts = await inner.decide(groups, { charge })
          return groups.map((group, index) => {
            const isContended = options.onContention === 'fail' && contended > 0 && hash(nameOf(group)) % contended === 0
            set[index]?.(isContended ? 'no' : 'decided')
            if (isContended) return { failure: new StoreFailure('contention', 'no', 'locked') }
            return verdicts[index] as GroupVerdict
          })
        }
        const store: Store = {
          ...inner,
          capabilities: { ...inner.capabilities, clock: 'server', sync: false },
          decide: (groups, options = {}) => decide(groups, options),
          ...(lanes && {
            laneOf(ids) {
              const names = new Set(ids.map(({ key }) => key.charAt(0)))
              return names.size === 1 ? [...names][0] : undefined
            },
          }),
        }
        const ring = remoteStore(store, {
          clock,
          random: () => 0.5,
          denials: false,
          batching: maxCalls === false ? false : { maxCalls, maxQueued },
          ...(!breaker && { breaker: false }),
        })
        const advance = async (ms: number): Promise<void> => {
          for (let passed = 0; passed < ms; passed += 1) {
            clock.advance(1)
            await settle()
          }
        }
        const callers: Caller[] = []
        let items = 0
        for (const { costs, peeks, deadline, stretch, abortAfter, server, after } of steps) {
          const now = clock.monotonic()
          const groups = costs.map((cost): CallGroup => ({
            calls: server.split('').map((name) => call(`${name}${(items += 1)}`, Math.min(10, cost))),
          }))
          const leaving = new AbortController()
          setMaxListeners(0, leaving.signal)
          const isHard = deadline !== undefined && stretch === undefined
          const caller: Caller = {
            keys: groups.map(nameOf),
            peeks,
            latest: isHard ? now + deadline : now + 1_000,
            abortedAt: abortAfter === null ? Number.POSITIVE_INFINITY : now + abortAfter,
            answers: 0,
            answeredAt: Number.POSITIVE_INFINITY,
            verdicts: [],
          }
          callers.push(caller)
          const options = {
            ...(deadline !== undefined && { deadline: now + deadline, ...(stretch && { stretch }) }),
            ...(abortAfter !== null && { signal: leaving.signal }),
            ...(peeks && { charge: false }),
          }
          void ring.decide(groups, options).then((verdicts) => {
            caller.answers += 1
            caller.answeredAt = clock.monotonic()
            caller.verdicts = verdicts
          })
          if (abortAfter !== null) clock.after(abortAfter, () => leaving.abort())
          if (after > 0) await advance(after)
        }
        for (let ms = 0; ms < 1_100 && callers.some(({ answers }) => answers === 0); ms += 1) await advance(1)
        await advance(20)

        for (const { keys, peeks, latest, abortedAt, answers, answeredAt, verdicts } of callers) {
          expect(answers).toBe(1)
          expect(verdicts).toHaveLength(keys.length)
          // The store has a millisecond to settle. One more is allowed, because a timer that is set between two milliseconds lasts whole
          // ones.
          expect(answeredAt).toBeLessThanOrEqual(Math.min(latest, abortedAt) + 2)
          for (const [index, key] of peeks ? [] : keys.entries()) {
            const endings = sendings.get(key) ?? []
            const said = outcomeOf(verdicts[index] as GroupVerdict)
            // Sent again only if each sending before was not executed.
            expect(endings.slice(0, -1).every((ending) => ending === 'no')).toBe(true)
            if (said.endsWith(' no')) expect(endings.every((ending) => ending === 'no')).toBe(true)
            else if (!said.endsWith(' unknown')) expect(endings.at(-1)).toBe('decided')
            if (endings.length > 1) seen.resent += 1
            if (said === 'overload no') seen.overload += 1
            if (said.startsWith('aborted')) seen.aborted += 1
            if (said === 'allowed') seen.allowed += 1
          }
        }
        // Whatever the server did before, the queue must be empty again. So as many calls fit as at first.
        wire.healthy = { kind: 'answers', ms: 0, contended: 0 }
        for (let tries = 0; tries < 10; tries += 1) {
          // Whatever failed until now is forgotten, or found well again.
          void ring.decide(['a', 'b'].map((server) => ({ calls: [call(`${server}-again${tries}`)] })))
          await advance(1)
          for (let ms = 0; ms < 300; ms += 50) {
            clock.advance(50)
            await settle()
          }
        }
        const full = ring.decide(Array.from({ length: Math.min(maxQueued, 200) }, (_, index) => ({ calls: [call(`a-full${index}`)] })))
        await advance(20)
        expect(new Set((await full).map(outcomeOf))).toEqual(new Set(['allowed']))
        expect(ring.breakerState).not.toBe('open')
        await ring.close()
      }),
      { seed: 20_261_122, numRuns: draws(1_000, 40) },
    )
    // The cases that matter were among them.
    for (const [what, count] of Object.entries(seen)) expect([what, count > 20]).toEqual([what, true])
  })
})

function nameOf({ calls }: CallGroup): string {
  return calls.map(({ id }) => id.key).join(' ')
}

function hash(text: string): number {
  let sum = 7
  for (let index = 0; index < text.length; index += 1) sum = (31 * sum + text.charCodeAt(index)) >>> 0
  return sum
}
