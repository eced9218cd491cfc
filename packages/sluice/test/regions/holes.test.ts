import { describe, expect, it } from 'vitest'
import * as programs from '../../src/regions/rights/programs.ts'
import { variantOf } from './variants.ts'
import { HISTORIES } from './written.ts'
import { WRONG } from './wrong.ts'

/** For each fault of an earlier design: a history in which the programs keep to the limit, and the wrong programs that fail in it. */
const HOLES: readonly (readonly [name: string, history: keyof typeof HISTORIES, wrong: readonly (keyof typeof WRONG)[]])[] = [
  [
    'R1: hole 1: nobody owns a key because it saw it first',
    'both regions see a key first',
    ['the first region to see a key owns all of it'],
  ],
  ['R4: hole 2: units do not fill a full bucket', 'units without tokens for a full bucket', ['a full bucket is full at its new share']],
  [
    'R4: hole 2: units do not fill a key without a state',
    'units without tokens for a key without a state',
    ['a key without a state is full at its new share'],
  ],
  [
    'R3, R4: hole 3: tokens of another limit are lost on their way',
    'a lowered limit while tokens are on their way',
    ['tokens of another limit are received, cut by their sum', 'tokens of the limit before last are received'],
  ],
  ['R0: hole 4: rights are units of a limit, not tokens', 'a lowered limit after a transfer', ['rights are tokens, not units']],
  ['R6: hole 5: a restored store is a lost store', 'a snapshot is restored', ['a restored snapshot goes on']],
  [
    'R6: hole 6: keys of a lost store are empty',
    'a store is lost',
    ['a lost store is full at once', 'keys of a lost store are full when its weight returns'],
  ],
  [
    'R6: hole 6: keys of a lost store fill from the era on',
    'a store is lost, and its weight returns later',
    ['keys of a lost store fill from the loss on'],
  ],
  ['R6: hole 7: a row of a lost store is void', 'a row of a lost store arrives late', ['a lost store returns in the same era']],
  ['R6: hole 7: also if all stores were lost', 'all stores are lost, and a row of before arrives', ['rows of any run are received']],
  ['R5: hole 8: two stores that were restored do not wait for each other', 'two of three stores are restored', []],
  ['R5: hole 9: a row ends with its era', 'a row of an earlier era arrives', ['rows of any era are received']],
  [
    'R5: hole 10: an era opens when all regions have closed and shrunk',
    'an era moves most units to one region',
    ['an era opens before all have closed', 'closing cuts to the weight of this era only', 'closing keeps what was received'],
  ],
  ['R5: hole 10: a closed region receives nothing', 'a closed region receives units', ['a closed store receives units']],
  [
    'R5: hole 11: a raised share is not full at once',
    'a roster gives one region everything',
    ['a key without a state is full when a roster raises its share'],
  ],
  ['R5: hole 12: a cell settles at the instant of the era', 'an era passes between two calls', ['a shift is applied at the next call']],
  ['R6: hole 15: a late hello does not bind a dead run', 'a hello of a dead run arrives', ['a late hello of a dead run is applied']],
]

describe('regions', () => {
  for (const [name, history, wrong] of HOLES) {
    it(`regions ${name}`, async () => {
      const right = HISTORIES[history](programs)
      expect(right).toMatchObject({ over: false, mostUnits: 1000, agreed: true })
      for (const variant of wrong) {
        const { over, agreed } = HISTORIES[history](await variantOf(WRONG[variant]))
        expect({ variant, noticed: over || !agreed }).toEqual({ variant, noticed: true })
      }
    })
  }
})
