import { LimiterError } from '../src/errors/limiter-error.ts'
import * as kit from '../src/testing.ts'
import type { ArgumentsRow } from './misuse-arguments.ts'
import type { OptionsRow } from './misuse-options.ts'
import { type Build, COUNT, FLAG, FN, limit, LIST, NONE, OBJECT, TEXT } from './misuse-values.ts'

/** Calls a function that registers tests. Vitest refuses that while a test runs, but the options are checked before. */
function registered(register: () => void): void {
  try {
    register()
  } catch (error) {
    if (error instanceof LimiterError || !/test function|suite function|describe/.test(String(error))) throw error
  }
}

const store = { open: () => {}, readState: () => {} }
const adapter = { serve: () => {}, header: () => {}, path: () => {} }
const storeSuite = ((options: never) => registered(() => kit.storeSuite('a', options))) as Build
const adapterSuite = ((options: never) => registered(() => kit.adapterSuite('a', options))) as Build
const clock = kit.manualClock()
const entry = { at: 0, cost: 1, allowed: true }
/** Numbers that a clock can be moved by. */
const MOVES = ['0', '5', '0.5']

/** The testing kit, as `ARGUMENTS`. */
export const KIT_ARGUMENTS: readonly ArgumentsRow[] = [
  ['manualClock', kit.manualClock, [0], [['undefined', '0', '5', '-1']]],
  ['manualClock.advance', ((ms: never) => clock.advance(ms)) as Build, [0], [MOVES]],
  ['manualClock.shift', ((micros: never) => clock.shift(micros)) as Build, [0], [['0', '5', '-1']]],
  ['manualClock.after', ((...given: never[]) => clock.after(0, given[0] as never)) as Build, [() => {}], [FN]],
  ['traces', kit.traces, [1, 1, {}], [['0', '5', '-1'], COUNT, [...OBJECT, 'undefined']]],
  ['audit', kit.audit, [[entry], limit], [LIST, NONE]],
  [
    'storeSuite',
    ((...given: never[]) => registered(() => kit.storeSuite(...(given as unknown as ['a', never])))) as Build,
    ['a', store],
    [TEXT, NONE],
  ],
  [
    'adapterSuite',
    ((...given: never[]) => registered(() => kit.adapterSuite(...(given as unknown as ['a', never])))) as Build,
    ['a', adapter],
    [TEXT, NONE],
  ],
]

/** The testing kit, as `OPTIONS`. */
export const KIT_OPTIONS: readonly OptionsRow[] = [
  [
    'storeSuite',
    storeSuite,
    store,
    {
      open: FN,
      readState: FN,
      close: FN,
      algorithms: NONE,
      givesBack: FLAG,
      peeksAdopt: FLAG,
      holdsWithoutLogs: FLAG,
      keepsTokens: FN,
      differentialCalls: COUNT,
      ownClockCalls: ['0', '5', '0.5'],
      sweep: FN,
      openFull: FN,
    },
  ],
  ['adapterSuite', adapterSuite, adapter, { serve: FN, header: FN, path: FN }],
  [
    'traces',
    ((options: never) => kit.traces(1, 1, options)) as Build,
    {},
    { algorithms: NONE, start: ['0', '5', '-1'], forwards: FLAG, groups: COUNT },
  ],
]
