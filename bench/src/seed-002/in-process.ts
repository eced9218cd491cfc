import { inChild } from '../in-child.ts'
import { contestantOf } from '../memory/contestants/all.ts'
import { type Grants, peerGrants } from '../memory/peer-grants.ts'
import { compared } from '../memory/peers.ts'
import { scenarioOf } from '../memory/scenarios.ts'
import type { Part, PartOptions } from '../part.ts'
import { figure } from '../render/columns.ts'
import type { Row, Table } from '../result/table.ts'
import { type ArticleHoldInput, type ArticleHoldResult, HITS } from './article-hold.ts'
import { IN_PROCESS } from './contestants.ts'

const KEYS = { quick: 20_000, full: 100_000 } as const

/** Compares window, queue and bucket of the article "Rate limiting in Clojure and Redis Lua" with Sluice's algorithms of the same kinds. */
export const inProcess: Part = {
  name: 'in-process',
  title: 'window, queue and bucket in process: time and memory',
  async run(options) {
    const grants = await peerGrants(options, IN_PROCESS)
    const tables: Table[] = []
    for (const name of ['ten-users', 'ten-flood']) tables.push(await compared(scenarioOf(name), IN_PROCESS, grants, options))
    tables.push(await weighed(grants, options))
    return {
      tables,
      notes: [
        'The article’s limiters are written anew in TypeScript. Each key has an immutable state, which a decision replaces by a new one in one step. The states are in a Map from which nothing is removed. The state of the limiter `queue` has a random UUID and an instant for each request of the last window.',
        'In Clojure the same states would take other times. So these figures compare the designs in one language, and do not compare Clojure with TypeScript.',
      ],
    }
  },
}

async function weighed(grants: Grants, options: PartOptions): Promise<Table> {
  const keys = KEYS[options.depth]
  const rows: Row[] = []
  for (const contestant of IN_PROCESS) {
    const { name, kind } = contestantOf(contestant)
    options.say(`memory of ${name}`)
    const input: ArticleHoldInput = { contestant, keys }
    const { bytesPerKey, allowed } = await inChild<ArticleHoldResult>('hold', input, { ...options, family: 'seed-002' })
    const overGrant = grants[contestant]?.overGrantPercent ?? { notAudited: 'the audit has no figure of it' }
    rows.push({ name, kind: kind as 'ours', cells: { bytes: bytesPerKey }, overGrant, wrongAnswers: keys * HITS - allowed })
  }
  return {
    name: 'memory',
    title: `${figure(keys)} keys of ${HITS} requests each`,
    columns: [{ key: 'bytes', title: 'a key', unit: 'bytes' }],
    rows,
    rank: { column: 'bytes', best: 'least' },
    notes: ['Bytes are heap and external memory after a garbage collection, without the texts of the keys.'],
  }
}
