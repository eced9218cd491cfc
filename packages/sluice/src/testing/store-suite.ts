import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Store } from '../stores/store.ts'
import { checkOptions, COUNT, FLAG, type Form, FUNCTION, requireForm, TEXT, within } from '../errors/options.ts'
import { ALL_TAGS, TENS } from './limits.ts'
import { aheadOf } from './store-suite/ahead.ts'
import { benchOf, type StoreSuiteOptions } from './store-suite/bench.ts'
import { contractOf } from './store-suite/contract.ts'
import { changesOf } from './store-suite/changes.ts'
import { groupsOf } from './store-suite/groups.ts'
import { holdTracesOf } from './store-suite/hold-traces.ts'
import { holdsOf } from './store-suite/holds.ts'
import { lawsOn } from './store-suite/laws.ts'
import { ownClock } from './store-suite/own-clock.ts'
import { edgesOf } from './store-suite/edges.ts'
import { rangeOf } from './store-suite/range.ts'
import { replayOwnClock } from './store-suite/replay-own-clock.ts'
import { replay } from './store-suite/replay.ts'
import { slotsOf } from './store-suite/slots.ts'
import { turnsOf } from './store-suite/turns.ts'
import { waitsOf } from './store-suite/waits.ts'
import { TAGS_FORM } from './traces.ts'

export type { StoreSuiteOptions } from './store-suite/bench.ts'

const FORMS: Readonly<Record<string, Form>> = {
  open: FUNCTION,
  readState: FUNCTION,
  close: FUNCTION,
  algorithms: TAGS_FORM,
  givesBack: FLAG,
  peeksAdopt: FLAG,
  holdsWithoutLogs: FLAG,
  keepsTokens: FUNCTION,
  differentialCalls: COUNT,
  ownClockCalls: within(0, Number.MAX_SAFE_INTEGER),
  sweep: FUNCTION,
  openFull: FUNCTION,
}
const PARTS = [
  contractOf,
  groupsOf,
  waitsOf,
  aheadOf,
  slotsOf,
  holdsOf,
  holdTracesOf,
  turnsOf,
  changesOf,
  rangeOf,
  edgesOf,
  ownClock,
  replay,
  replayOwnClock,
]

/**
 * Registers with vitest the tests that every store must pass. Decisions at an instant that the test sets are compared with the reference.
 * @throws LimiterError INVALID_OPTIONS
 */
export function storeSuite(name: string, options: StoreSuiteOptions): void {
  requireForm('storeSuite', 'name', name, TEXT)
  checkOptions('storeSuite', options, FORMS)
  requireForm('storeSuite', 'open', options.open, FUNCTION)
  requireForm('storeSuite', 'readState', options.readState, FUNCTION)
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
    for (const tag of ALL_TAGS) {
      if (bench.tags.includes(tag)) lawsOn(tag, bench)
      else it(`decides a ${TENS[tag].algorithm.name}`, (context) => context.skip('the store has no program for it yet'))
    }
    for (const register of PARTS) register(bench)
  })
}
