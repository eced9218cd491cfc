import { ALLOWED_KEYS } from '../profiles.ts'
import { inChild } from '../in-child.ts'
import type { Goal, Reading } from '../result/reading.ts'
import { amount } from '../render/cells.ts'
import { median, ratiosOf, spreadOf } from '../result/statistics.ts'
import type { RedisPart } from './redis-part.ts'
import type { LaneName, RedisTimeInput, RedisTimeResult } from './redis-time-lanes.ts'

/** The goal of 3.6 us, divided by the time of the baseline on the machine where the goal was set. */
const RATIO = 0.78

/** Measures what a decision costs the server itself. This cost bounds the throughput if each request has a different key. */
export const redisTime: RedisPart = {
  name: 'redis-time',
  title: "Redis's own time per decision, as it counts it (INFO commandstats)",
  async run(options) {
    const { seconds, server, say } = options
    say('programs one after the other')
    const { tokens, per, burst } = ALLOWED_KEYS
    const input: RedisTimeInput = { url: server.url, seconds, quota: { tokens, per, burst } }
    const { rounds, refused } = await inChild<RedisTimeResult>('redis-time', input, { ...options, family: 'redis' })
    const baseline = `one EVALSHA each ${us(median(rounds.lua))}`
    const floor = { value: median(rounds.empty16), what: `an empty program with as many keys, ${us(median(rounds.empty16))}` }
    const reading = (name: string, lane: LaneName, goal?: Goal): Reading => ({
      name,
      profile: ALLOWED_KEYS.name,
      unit: 'us',
      value: median(rounds[lane]),
      spread: spreadOf(rounds[lane]),
      ...(goal === undefined ? {} : { goal, floor }),
      ours: `${ratiosOf(rounds[lane], rounds.lua).median.toFixed(2)} x`,
      baseline,
      wrongAnswers: refused,
    })
    const ratio = ratiosOf(rounds.different16, rounds.lua)
    return {
      readings: [
        reading('16 different keys in a call', 'different16', { atMost: 3.6 }),
        {
          name: '16 different keys in a call',
          profile: 'against one EVALSHA each',
          unit: 'x',
          value: ratio.median,
          spread: ratio,
          goal: { atMost: RATIO },
          ours: us(median(rounds.different16)),
          baseline,
          wrongAnswers: refused,
        },
        reading('one key in a call', 'alone'),
        reading('one key 16 times in a call', 'same16'),
        reading('one key 128 times in a call', 'same128'),
      ],
      notes: [
        "The goal, 3.6 us of Redis's time for a decision, was set on a machine where one EVALSHA on a hash of two fields took 4.6 us. On another machine, the goal is the ratio of both times (0.78).",
        'Redis reports the time of a call in whole microseconds, rounded down. So a decision alone in its call may seem up to 1 us cheaper than it is. A decision that shares its call with 15 others may seem up to 1/16 us cheaper.',
      ],
    }
  },
}

function us(value: number): string {
  return amount(value, 'us')
}
