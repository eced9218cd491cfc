import type { Timed } from '../interleave.ts'
import { amount } from '../render/cells.ts'
import type { Reading } from '../result/reading.ts'
import { figure, percent } from '../render/columns.ts'
import { median, ratiosOf } from '../result/statistics.ts'
import { type Grant, type HotInput, type HotResult, METERED } from './hot-lanes.ts'
import { inChild } from '../in-child.ts'
import type { Part } from '../part.ts'
import { ALLOWED, DENIED, type Profile, wrongAnswersOf } from '../profiles.ts'

const SYNC_GOAL = { atMost: 2 }
const ASYNC_GOAL = { atMost: 1.3 }

/** Measures the cost of a decision, with one key for all calls. */
export const hot: Part = {
  name: 'hot',
  title: 'one hot key, against a plain Map of hand-written buckets',
  async run({ seconds, say, atEnd }) {
    const input: HotInput = { seconds }
    say(`checkSync on a hot key, ${seconds} s`)
    const sync = await inChild<HotResult>('hot', input, { atEnd })
    say(`check on a hot key, ${seconds} s`)
    const async = await inChild<HotResult>('async', input, { atEnd })
    const [map, ours, mapDenied, oursDenied, clock, answer] = sync.lanes as Lanes<6>
    const [asyncMap, asyncOurs, asyncMapDenied, asyncOursDenied, await_] = async.lanes as Lanes<5>
    const clockFloor = { lane: clock, what: `the clock alone, ${nanoseconds(clock)}` }
    const awaitFloor = { lane: await_, what: `${await_.name}, ${nanoseconds(await_)}` }
    const syncJudged: Judged = { goal: SYNC_GOAL, floor: clockFloor, grant: sync.grants.sluice }
    const asyncJudged: Judged = { goal: ASYNC_GOAL, floor: awaitFloor, grant: async.grants.sluice }
    return {
      readings: [
        reading('checkSync', ALLOWED, ours, map, syncJudged),
        reading('checkSync', DENIED, oursDenied, mapDenied, syncJudged),
        denied('checkSync, denied against allowed', oursDenied, ours),
        reading('check', ALLOWED, asyncOurs, asyncMap, asyncJudged),
        reading('check', DENIED, asyncOursDenied, asyncMapDenied, asyncJudged),
        denied('check, denied against allowed', asyncOursDenied, asyncOurs),
        grantReading('checkSync, over-grant', sync.grants),
        grantReading('check, over-grant', async.grants),
      ],
      notes: [
        `${answer.name}: ${nanoseconds(answer)}, for reading the clock and making the object of a decision. No goal is compared with this time.`,
        `checkSync was measured in ${clock.rounds.length} rounds, then check in ${await_.rounds.length}. In each round, all measured functions took turns, with 20,000 calls each. Each ratio compares two times of the same round.`,
      ],
    }
  },
}

type Lanes<Length extends number> = readonly Timed[] & { readonly length: Length } & Readonly<Record<0 | 1 | 2 | 3 | 4 | 5, Timed>>

interface Judged {
  readonly grant: Grant
  readonly goal: { readonly atMost: number }
  readonly floor: { readonly lane: Timed; readonly what: string }
}

function reading(name: string, profile: Profile, ours: Timed, baseline: Timed, { goal, floor, grant }: Judged): Reading {
  const spread = ratiosOf(ours.rounds, baseline.rounds)
  return {
    name,
    profile: profile.name,
    unit: 'x',
    value: spread.median,
    spread,
    goal,
    ours: nanoseconds(ours),
    baseline: `Map ${nanoseconds(baseline)}`,
    floor: { value: ratiosOf(floor.lane.rounds, baseline.rounds).median, what: floor.what },
    wrongAnswers: wrongAnswersOf(profile, ours),
    overGrantPercent: profile.answer === 'denied' ? (ours.allowed / profile.burst) * 100 : overPercent(grant),
  }
}

function denied(name: string, slow: Timed, fast: Timed): Reading {
  const spread = ratiosOf(slow.rounds, fast.rounds)
  const [ours, baseline] = [nanoseconds(slow), `allowed ${nanoseconds(fast)}`]
  return { name, profile: DENIED.name, unit: 'x', value: spread.median, spread, goal: { atMost: 1 }, ours, baseline }
}

function grantReading(name: string, { sluice, map }: HotResult['grants']): Reading {
  const { rate, burst, seconds } = METERED
  const over = overPercent(sluice)
  return {
    name,
    profile: `flood at ${figure(rate)}/s, burst ${burst}, ${seconds} s`,
    unit: '%',
    value: over,
    goal: { atMost: 0 },
    ours: `${figure(sluice.admitted)} of ${figure(sluice.permitted)}`,
    baseline: `Map ${figure(map.admitted)} of ${figure(map.permitted)}, ${percent(overPercent(map))}`,
    overGrantPercent: over,
  }
}

/** The over-grant in percent. It is never below 0, because a token that was refilled after the last call could not be used. */
function overPercent({ admitted, permitted }: Grant): number {
  return (Math.max(0, admitted - permitted) / permitted) * 100
}

function nanoseconds({ rounds }: Timed): string {
  return amount(median(rounds), 'ns')
}
