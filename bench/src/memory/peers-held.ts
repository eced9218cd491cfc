import { inChild } from '../in-child.ts'
import type { Part, PartOptions } from '../part.ts'
import { figure } from '../render/columns.ts'
import type { Column, Row, Table } from '../result/table.ts'
import { type ContestantName, contestantOf, NAMES } from './contestants/all.ts'
import { type Grants, peerGrants } from './peer-grants.ts'
import type { PeerHoldInput, PeerHoldResult } from './peer-hold.ts'
import { MANY_KEYS } from './scenarios.ts'

const KEYS = { quick: 100_000, full: 1_000_000 } as const
const RUNS = { quick: 1, full: 2 } as const
const HOLDERS: readonly ContestantName[] = NAMES.filter((name) => contestantOf(name).kind !== 'floor' || name === 'bare-table')

const COLUMNS: readonly Column[] = [
  { key: 'bytes', title: 'a key', unit: 'bytes' },
  { key: 'call', title: 'longest call', unit: 'ms' },
  { key: 'pause', title: 'longest collection', unit: 'ms' },
  { key: 'major', title: 'full collections' },
  { key: 'majorMs', title: 'together', unit: 'ms' },
]

/** Measures what the limiters in this process hold, and the pauses that this causes. */
export const peersHeld: Part = {
  name: 'peers-held',
  title: 'limiters in this process: bytes for each key, and the longest pauses',
  async run(options) {
    const grants = await peerGrants(options)
    const [keys, runs] = [KEYS[options.depth], RUNS[options.depth]]
    const held = new Map<ContestantName, PeerHoldResult[]>()
    for (let run = 1; run <= runs; run += 1) {
      options.say(`${figure(keys)} keys in each of ${HOLDERS.length} ways: run ${run} of ${runs}`)
      for (const contestant of HOLDERS) held.set(contestant, [...(held.get(contestant) ?? []), await hold(contestant, keys, options)])
    }
    return {
      tables: [heldTable(keys, held, grants)],
      notes: [
        `Bytes are heap and external memory after a garbage collection, without the texts of the keys, which the caller holds. The limit is ${figure(MANY_KEYS.burst)} tokens in 20 days. Each figure is the worst of ${runs} runs.`,
        'The longest call was found while the number of keys grew from zero to all. Garbage collections were measured then, and during as many random lookups. Their time is wall time, which includes waits for a processor.',
        'Map and limiter never remove a key. The others remove keys that have expired, each in its own way. For this they store more with each key, but in a long run they save memory.',
      ],
    }
  },
}

function hold(contestant: ContestantName, keys: number, { atEnd }: PartOptions): Promise<PeerHoldResult> {
  const input: PeerHoldInput = { contestant, keys }
  return inChild<PeerHoldResult>('peer-hold', input, { atEnd })
}

/** Makes the table of the worst run of each limiter, because a pause counts even if it occurs in only one of the runs. */
export function heldTable(keys: number, held: ReadonlyMap<ContestantName, readonly PeerHoldResult[]>, grants: Grants): Table {
  const rows = [...held].map(([contestant, runs]): Row => {
    const { name, kind } = contestantOf(contestant)
    const worst = (of: (run: PeerHoldResult) => number): number => Math.max(...runs.map(of))
    const cells = {
      bytes: worst(({ bytesPerKey }) => bytesPerKey),
      call: worst(({ longestCall }) => longestCall),
      pause: worst(({ longestCollection }) => longestCollection),
      major: worst(({ major }) => major.count),
      majorMs: worst(({ major }) => major.ms),
    }
    if (kind === 'floor') return { name, kind, cells }
    const overGrant = grants[contestant]?.overGrantPercent ?? { notAudited: 'the audit has no figure of it' }
    return { name, kind, cells, overGrant, wrongAnswers: worst(({ refused }) => refused) }
  })
  return { name: 'held', title: `${figure(keys)} keys`, columns: COLUMNS, rows, rank: { column: 'bytes', best: 'least' } }
}
