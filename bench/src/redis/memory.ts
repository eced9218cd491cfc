import type { Quota } from '../contestants/contestant.ts'
import { inChild } from '../in-child.ts'
import type { Reading } from '../reading.ts'
import { amount } from '../reading-text.ts'
import { figure } from '../report.ts'
import type { MemoryInput, MemoryResult } from './memory-hold.ts'
import type { RedisPart } from './redis-part.ts'

const KEYS = 100_000

/** Limits whose numbers take more and more room; their states live long enough to be weighed. */
const QUOTAS: readonly (readonly [name: string, quota: Quota])[] = [
  ['10/s, burst 150', { tokens: 10, per: '1s', burst: 150 }],
  ['100/min, burst 100', { tokens: 100, per: '1m', burst: 100 }],
  ['1000/day, burst 1000', { tokens: 1_000, per: '1d', burst: 1_000 }],
]

const PLAIN = { atMost: 0.85 }
const PACKED = { atMost: 32 }

/** What a key holds in Redis, its name and its expiry included. */
export const memory: RedisPart = {
  name: 'memory',
  title: `Redis's memory at ${figure(KEYS)} keys of 24 characters, name and expiry included`,
  async run(options) {
    const { server, say } = options
    const readings: Reading[] = []
    let name = ''
    for (const [profile, quota] of QUOTAS) {
      say(`layouts of ${figure(KEYS)} keys, ${profile}`)
      const input: MemoryInput = { url: server.url, keys: KEYS, quota }
      const result = await inChild<MemoryResult | null>('memory', input, { ...options, family: 'redis' })
      if (result === null) {
        readings.push({
          name: 'plain',
          profile,
          goal: PLAIN,
          absent: 'states were as good as new again before they were weighed: the machine is too busy',
        })
        continue
      }
      readings.push(...readingsOf(profile, result))
      name = result.example
    }
    return {
      readings,
      notes: [
        `Each key was charged twice, seconds apart, for 44 % of the burst; a name as it is in Redis: ${name}.`,
        'used_memory of the server with the keys, less what it was without.',
      ],
    }
  },
}

function readingsOf(profile: string, { plain, hash, empty, packed, refused }: MemoryResult): Reading[] {
  const baseline = `hash of two fields ${bytes(hash)}`
  return [
    {
      name: 'plain',
      profile,
      unit: 'x',
      value: plain / hash,
      goal: PLAIN,
      ours: bytes(plain),
      baseline,
      floor: { value: empty / hash, what: `an empty text under the same names, ${bytes(empty)}` },
      wrongAnswers: refused,
    },
    packed === undefined
      ? { name: 'packed', profile, goal: PACKED, absent: 'this version has no packed layout' }
      : {
          name: 'packed',
          profile,
          unit: 'bytes',
          value: packed.bytes,
          goal: PACKED,
          ours: `${figure(packed.hashes)} hashes`,
          baseline,
          wrongAnswers: refused,
        },
  ]
}

function bytes(value: number): string {
  return amount(value, 'bytes')
}
