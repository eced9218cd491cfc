import type { Timed } from '../interleave.ts'
import { amount } from '../render/cells.ts'
import type { Reading } from '../result/reading.ts'
import { figure } from '../render/columns.ts'
import { median, ratiosOf } from '../result/statistics.ts'
import type { AlgorithmHoldInput, AlgorithmHoldResult } from './algorithms-hold.ts'
import { ALGORITHMS, type AlgorithmName, type AlgorithmsInput, type AlgorithmsResult, type Load } from './algorithms-lanes.ts'
import { inChild } from '../in-child.ts'
import type { Part, PartOptions } from '../part.ts'

const KEYS = 100_000
const LOADS: readonly Load[] = ['allowed', 'denied']
/**
 * The charges of each key before memory is measured. Only a log grows with its charges, so it is measured with several numbers of charges.
 */
const CHARGES = 10
const LOG_CHARGES = { quick: [1, CHARGES], full: [1, CHARGES, 100] } as const

/** Compares the cost of the four algorithms on the memory store. It has no goal; docs/choosing.md shows the figures. */
export const algorithms: Part = {
  name: 'algorithms',
  title: 'the four algorithms on the memory store, against the token bucket',
  async run(options) {
    const readings: Reading[] = []
    for (const load of LOADS) readings.push(...(await speeds(load, options)))
    readings.push(...(await weights(options)))
    return {
      readings,
      notes: [
        'Under `all allowed` the limit is 10^7 tokens a second. A sliding log allows no limit above 10,000, so its limit is 10,000 in a millisecond. No machine makes so many calls in a millisecond. Each call to a log removes the entries that have left the window.',
        `Bytes are heap and external memory of ${figure(KEYS)} keys after a garbage collection, without the texts of the keys. An entry of a log has 16 bytes. A log keeps its entries in one block, whose size doubles when it is full.`,
      ],
    }
  },
}

async function speeds(load: Load, options: PartOptions): Promise<Reading[]> {
  const { seconds, say } = options
  say(`checkSync on one key, ${load}, ${seconds} s`)
  const input: AlgorithmsInput = { seconds, load }
  const { lanes } = await inChild<AlgorithmsResult>('algorithms', input, options)
  const bucket = lanes[0] as Timed
  return lanes.map((lane): Reading => {
    const spread = ratiosOf(lane.rounds, bucket.rounds)
    return {
      name: `checkSync, ${lane.name}`,
      profile: load === 'allowed' ? 'all allowed' : 'denied flood',
      unit: 'x',
      value: spread.median,
      spread,
      ours: amount(median(lane.rounds), 'ns'),
      baseline: `token-bucket ${amount(median(bucket.rounds), 'ns')}`,
      wrongAnswers: load === 'allowed' ? lane.calls - lane.allowed : lane.allowed,
    }
  })
}

async function weights(options: PartOptions): Promise<Reading[]> {
  const readings: Reading[] = []
  let bucket: number | undefined
  for (const name of ALGORITHMS) {
    for (const charges of name === 'sliding-window-log' ? LOG_CHARGES[options.depth] : [CHARGES]) {
      options.say(`memory of ${name}, ${charges} charges a key`)
      const { bytesPerKey, allowed } = await weigh(name, charges, options)
      bucket ??= bytesPerKey
      readings.push({
        name: `bytes per key, ${name}`,
        profile: `${charges} charges a key`,
        unit: 'x',
        value: bytesPerKey / bucket,
        ours: amount(bytesPerKey, 'bytes'),
        baseline: `token-bucket ${amount(bucket, 'bytes')}`,
        wrongAnswers: KEYS * charges - allowed,
      })
    }
  }
  return readings
}

function weigh(algorithm: AlgorithmName, charges: number, options: PartOptions): Promise<AlgorithmHoldResult> {
  const input: AlgorithmHoldInput = { algorithm, keys: KEYS, charges }
  return inChild<AlgorithmHoldResult>('algorithm-hold', input, options)
}
