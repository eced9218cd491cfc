import { afterAll, beforeAll, describe, it } from 'vitest'
import type { AlgorithmTag } from '../algorithms/algorithm.ts'
import type { Store } from '../stores/store.ts'
import { TENS } from './limits.ts'
import { benchOf, type StoreSuiteOptions } from './store-suite/bench.ts'
import { contractOf } from './store-suite/contract.ts'
import { changesOf } from './store-suite/changes.ts'
import { groupsOf } from './store-suite/groups.ts'
import { lawsOn } from './store-suite/laws.ts'
import { ownClock } from './store-suite/own-clock.ts'
import { edgesOf } from './store-suite/edges.ts'
import { rangeOf } from './store-suite/range.ts'
import { replayOwnClock } from './store-suite/replay-own-clock.ts'
import { replay } from './store-suite/replay.ts'
import { turnsOf } from './store-suite/turns.ts'
import { waitsOf } from './store-suite/waits.ts'

export type { StoreSuiteOptions } from './store-suite/bench.ts'

const ALL = Object.keys(TENS) as readonly AlgorithmTag[]

/**
 * Registers the tests that every store must pass with vitest: the port, the laws on each algorithm, groups, keys, changes, failures, and
 * the kernel replayed. Every decision at a given time is compared with the reference driver.
 */
export function storeSuite(name: string, options: StoreSuiteOptions): void {
  describe(`store suite: ${name}`, () => {
    let store: Store
    beforeAll(async () => {
      store = await options.open()
    })
    afterAll(async () => {
      await store?.close()
      await options.close?.()
    })
    const bench = benchOf(options, () => store)
    const tags = options.algorithms ?? ALL
    for (const tag of ALL) {
      if (tags.includes(tag)) lawsOn(tag, bench)
      else it(`decides a ${TENS[tag].algorithm.name}`, (context) => context.skip('the store has no program for it yet'))
    }
    contractOf(tags, bench)
    groupsOf(tags, bench)
    waitsOf(tags, bench)
    turnsOf(tags, bench)
    changesOf(tags, bench)
    rangeOf(tags, bench)
    edgesOf(tags, bench)
    ownClock(tags, bench)
    replay(tags, bench)
    replayOwnClock(tags, bench)
  })
}
