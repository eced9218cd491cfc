import type { Quota } from '../contestants/contestant.ts'
import { inChild } from '../in-child.ts'
import type { Reading } from '../result/reading.ts'
import { amount } from '../render/cells.ts'
import { figure } from '../render/columns.ts'
import { bytesTable } from './bytes.ts'
import type { MemoryInput, MemoryResult } from './memory-hold.ts'
import type { RedisPart } from './redis-part.ts'

/**
 * The numbers of keys. Both fill the hash tables of Redis to the same share of a power of two, so that the bytes of a key are comparable.
 */
const KEYS = { quick: 25_000, full: 50_000 } as const

/** Limits whose numbers need more and more bytes. Their states live long enough to be measured. */
const QUOTAS: readonly (readonly [name: string, quota: Quota])[] = [
  ['10/s, burst 150', { tokens: 10, per: '1s', burst: 150 }],
  ['100/min, burst 100', { tokens: 100, per: '1m', burst: 100 }],
  ['1000/day, burst 1000', { tokens: 1_000, per: '1d', burst: 1_000 }],
]

const PLAIN = { atMost: 0.85 }
const PACKED = { atMost: 32 }

/** Measures the memory of a key in Redis, with its name and its expiry. */
export const memory: RedisPart = {
  name: 'memory',
  title: 'Redis’s memory for a key of 24 characters, name and expiry included',
  async run(options) {
    const { server, depth, say } = options
    const keys = KEYS[depth]
    const readings: Reading[] = []
    let name = ''
    for (const [profile, quota] of depth === 'quick' ? QUOTAS.slice(-1) : QUOTAS) {
      say(`layouts of ${figure(keys)} keys, ${profile}`)
      const input: MemoryInput = { url: server.url, keys, quota }
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
      tables: [await bytesTable(options)],
      notes: [
        `${figure(keys)} keys. Each was charged twice, seconds apart, each time for 44 % of the burst. An example of a name in Redis: ${name}.`,
        'The memory of the keys is used_memory of the server with them, less used_memory without them.',
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
