import { inChild } from '../in-child.ts'
import type { Reading } from '../reading.ts'
import { amount } from '../reading-text.ts'
import { figure } from '../report.ts'
import type { MemoryInput, MemoryResult } from './memory-hold.ts'
import type { RedisPart } from './redis-part.ts'

const KEYS = 100_000
/** Slow, so that a state which was charged once stays one until it was weighed. */
const QUOTA = { tokens: 100, per: '1d', burst: 100 } as const

/** What a key holds in Redis, its name and its expiry included. */
export const memory: RedisPart = {
  name: 'memory',
  title: `Redis's memory at ${figure(KEYS)} keys of 24 characters, name and expiry included`,
  async run(options) {
    const { server, say } = options
    say(`four layouts of ${figure(KEYS)} keys`)
    const input: MemoryInput = { url: server.url, keys: KEYS, quota: QUOTA }
    const { plain, hash, empty, packed, example, refused } = await inChild<MemoryResult>('memory', input, { ...options, family: 'redis' })
    const baseline = `hash of two fields ${bytes(hash)}`
    const readings: Reading[] = [
      {
        name: 'plain',
        unit: 'x',
        value: plain / hash,
        goal: { atMost: 0.85 },
        ours: bytes(plain),
        baseline,
        floor: { value: empty / hash, what: `an empty text under the same names, ${bytes(empty)}` },
        wrongAnswers: refused,
      },
      packed === undefined
        ? { name: 'packed', goal: { atMost: 32 }, absent: 'this version has no packed layout' }
        : {
            name: 'packed',
            unit: 'bytes',
            value: packed.bytes,
            goal: { atMost: 32 },
            ours: `${figure(packed.hashes)} hashes`,
            baseline,
            wrongAnswers: refused,
          },
    ]
    return {
      readings,
      notes: [
        `Each key was charged twice, seconds apart, under ${QUOTA.tokens} a day and a burst of ${QUOTA.burst}; a name as it stands in Redis: ${example}.`,
        'used_memory of the server with the keys, less what it was without.',
      ],
    }
  },
}

function bytes(value: number): string {
  return amount(value, 'bytes')
}
