import type { Timed } from '../interleave.ts'
import { amount } from '../render/cells.ts'
import type { Reading } from '../result/reading.ts'
import { figure } from '../render/columns.ts'
import { median, ratiosOf } from '../result/statistics.ts'
import { inChild } from '../in-child.ts'
import type { Part } from '../part.ts'
import { ALLOWED_KEYS, DENIED, wrongAnswersOf } from '../profiles.ts'
import { COUNTS, type RulesInput, type RulesResult } from './rules-lanes.ts'

const GOAL = { atMost: 1.5 }
/** The goal is for 1,000 rules compared with 10. */
const JUDGED = 1_000
const BASELINE = 10

/** Measures the cost of a decision if a policy has many rules and one of them matches. */
export const rules: Part = {
  name: 'rules',
  title: 'a policy of many rules, one matching, against one of ten',
  async run({ seconds, say, atEnd }) {
    const readings: Reading[] = []
    for (const profile of [ALLOWED_KEYS, DENIED]) {
      say(`a decision of ${COUNTS.join(', ')} rules, ${profile.name}, ${seconds} s`)
      const input: RulesInput = { seconds, profile }
      const { lanes } = await inChild<RulesResult>('rules', input, { atEnd })
      const ten = lanes[COUNTS.indexOf(BASELINE)] as Timed
      const check = lanes[COUNTS.length] as Timed
      readings.push(
        ...COUNTS.map((count, index): Reading => {
          const timed = lanes[index] as Timed
          const spread = ratiosOf(timed.rounds, ten.rounds)
          // Each client may take one token of its full bucket. It was spent before the counted rounds.
          const wrongAnswers = wrongAnswersOf(profile, timed)
          return {
            name: `decide, ${figure(count)} rules`,
            profile: profile.name,
            unit: 'x',
            value: spread.median,
            spread,
            ...(count === JUDGED ? { goal: GOAL } : {}),
            ours: nanoseconds(timed),
            baseline: `${BASELINE} rules ${nanoseconds(ten)}`,
            wrongAnswers,
            ...(count === JUDGED
              ? { floor: { value: ratiosOf(check.rounds, ten.rounds).median, what: `${check.name}, ${nanoseconds(check)}` } }
              : {}),
          }
        }),
      )
    }
    return {
      readings,
      notes: [
        'Only the last rule matches the request, and the paths of all rules begin alike. The key is a header, with 16 values in turn.',
      ],
    }
  },
}

function nanoseconds({ rounds }: Timed): string {
  return amount(median(rounds), 'ns')
}
