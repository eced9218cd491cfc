import { describe, expect, it } from 'vitest'
import { problemOf } from './audited.ts'
import { historyOf, run } from './history.ts'
import { variantOf } from './variants.ts'
import { HISTORIES } from './written.ts'
import { LOST_HISTORIES } from './written-lost.ts'
import { UNDIVIDED_HISTORIES } from './written-undivided.ts'
import { WRONG } from './wrong.ts'

const SEED = 1
/**
 * So many random histories are enough to notice the wrong programs that are easy to notice. For the others there are histories written by
 * hand.
 */
const FEW = 40
const ALL = { ...HISTORIES, ...LOST_HISTORIES, ...UNDIVIDED_HISTORIES }
const BY_HAND: Partial<Record<keyof typeof WRONG, keyof typeof ALL>> = {
  'a full bucket is full at its new share': 'units without tokens for a full bucket',
  'a key without a state is full at its new share': 'units without tokens for a key without a state',
  'a lost store is full at once': 'a store is lost',
  'keys of a lost store are full when its weight returns': 'a store is lost',
  'a key without a state is full when a roster raises its share': 'a roster gives one region everything',
  'a lost store returns in the same era': 'a row of a lost store arrives late',
  'the last row that arrives is right': 'rows arrive in another order',
  'a restored snapshot goes on': 'a snapshot is restored',
  'keys of a lost store fill from the loss on': 'a store is lost, and its weight returns later',
  'a key whose state expired after an era was full at the era': 'a state expires soon after its share was raised',
  'a key was full at an era, whatever the era before': 'a share is raised twice',
  'a shift is applied at the next call': 'an era passes between two calls',
  'more tokens are sent than the units may have': 'all tokens with few units',
  'tokens of another limit are received, cut by their sum': 'a lowered limit while tokens are on their way',
  'tokens of the limit before last are received': 'a lowered limit while tokens are on their way',
  'a full bucket of another limit is full by this one': 'a limit is raised after an era',
  'states of a longer limit are forgotten early': 'a limit returns that takes longer to fill',
  'rows of any run are received': 'all stores are lost, and a row of before arrives',
  'a region that is gone is passed over, whatever its run': 'a region is said to be gone after another run of it has joined',
  'a new run passes over a region of which it knows no run': 'a new run learns of a region that is gone',
  'rows of a run that is gone are received': 'rows of a run arrive after it is gone',
  'a run that is gone begins an era': 'a run has begun an era, and is gone by another roster of it',
  'a newer roster forgets which runs are gone': 'a roster is newer than the one that names a run gone',
  'a region begins an era first, for which nobody waits': 'a region that is not in the roster reads of the next one',
  'a store greets no peer that it did not know while it was learning':
    'a region that was removed is added again, after another one lost its store',
  'a late hello of a dead run is applied': 'a hello of a dead run arrives',
  'a cell is whole at its next home while an era ends': 'the home of a cell changes while an era ends',
  'rows of a divided cell count when it no longer is': 'a limit is no longer divided, and had rows',
  'rows of a divided cell are received when it no longer is': 'a limit is no longer divided while a row is on its way',
  'units are sent of a cell with rows of when it was not divided': 'a limit is divided, and had rows',
}

/** The rule that each of them breaks. */
const RULES: Record<keyof typeof WRONG, string> = {
  'the first region to see a key owns all of it': 'R1',
  'a full bucket is full at its new share': 'R4',
  'sums of rows are added': 'R4',
  'the last row that arrives is right': 'R4',
  'a bucket is not settled at its old rate': 'R3, R4',
  'a key without a state is full at its new share': 'R4',
  'units that were sent are kept': 'R3',
  'tokens that were sent are kept': 'R3',
  'a restored snapshot goes on': 'R6',
  'a lost store is full at once': 'R6',
  'keys of a lost store are full when its weight returns': 'R6',
  'keys of a lost store fill from the loss on': 'R6',
  'an era opens before all have closed': 'R5',
  'closing keeps what was received': 'R5',
  'closing cuts to the weight of this era only': 'R5',
  'a closed store receives units': 'R5',
  'rows of any era are received': 'R5',
  'a key without a state is full when a roster raises its share': 'R5',
  'a key whose state expired after an era was full at the era': 'R5',
  'a key was full at an era, whatever the era before': 'R5',
  'rights are tokens, not units': 'R0',
  'a shift is applied at the next call': 'R5',
  'more tokens are sent than the units may have': 'R3',
  'tokens of another limit are received, cut by their sum': 'R4',
  'tokens of the limit before last are received': 'R4',
  'a full bucket of another limit is full by this one': 'R5',
  'states of a longer limit are forgotten early': 'R4',
  'a lost store returns in the same era': 'R6',
  'rows of any run are received': 'R6',
  'a region that is gone is passed over, whatever its run': 'R5',
  'a new run passes over a region of which it knows no run': 'R5',
  'rows of a run that is gone are received': 'R5',
  'a run that is gone begins an era': 'R5',
  'a newer roster forgets which runs are gone': 'R5',
  'a region begins an era first, for which nobody waits': 'R5',
  'a store greets no peer that it did not know while it was learning': 'R6',
  'a late hello of a dead run is applied': 'R6',
  'a cell that is not divided is whole in every region': 'R8',
  'regions differ in the home of a cell': 'R8',
  'a cell is whole at its next home while an era ends': 'R8',
  'rows of a divided cell count when it no longer is': 'R8',
  'rows of a divided cell are received when it no longer is': 'R8',
  'units are sent of a cell with rows of when it was not divided': 'R8',
}

describe('regions: wrong programs', () => {
  for (const [name, replacements] of Object.entries(WRONG)) {
    const written = BY_HAND[name as keyof typeof WRONG]
    it(`regions ${RULES[name as keyof typeof WRONG]}: noticed by ${written === undefined ? 'random histories' : 'a history'}: ${name}`, async () => {
      const programs = await variantOf(replacements)
      if (written !== undefined) {
        const { over, agreed } = ALL[written](programs)
        return expect(over || !agreed).toBe(true)
      }
      for (let index = 0; index < FEW; index += 1) if (problemOf(run(programs, historyOf(SEED + index))) !== undefined) return undefined
      return expect.fail(`not noticed in ${FEW} histories`)
    })
  }
})
