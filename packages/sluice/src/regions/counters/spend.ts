import type { Envelope } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { Call, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { createChangeLog } from '../change-log.ts'
import { PAGE_ROWS } from '../replicator/messages.ts'

/** What one region spent of one key: a growing sum, so lost, late or repeated rows do no harm. */
export interface SpendRow {
  readonly scope: string
  readonly key: string
  /** The numbers of the plan of the latest call, as text. */
  readonly policy: string
  /** The largest rate and burst among the row's calls; undefined if the limit never changed. */
  readonly most: Envelope | undefined
  /** The row's number, which rises with each new row. A key begins a new row after long disuse. */
  readonly born: number
  /** Micro-tokens that were spent since the row began. */
  readonly value: number
}

export interface SpendPage {
  readonly rows: readonly SpendRow[]
  /** The position from which the next page is read. */
  readonly cursor: number
  /** Whether no more rows follow. */
  readonly all: boolean
  /** Rows begun since the region's store was started. */
  readonly births: number
}

export interface Spend {
  readonly size: number
  hasRoom(id: StateId): boolean
  add(call: Call, at: Micros): void
  /** The rows that changed after this change number, oldest changes first. */
  page(after: number): SpendPage
  /** Drops rows that nobody needs any more. */
  sweep(now: Micros): void
}

interface Entry {
  readonly id: StateId
  plan: BucketPlan
  most: Envelope | undefined
  born: number
  value: number
  /** Store time of the latest call. */
  at: Micros
  /** The number of the row's latest change. All changes between two reads of a peer have the same number. 0: the row was dropped. */
  changed: number
}

/** A row that reaches this many micro-tokens begins again from 0, so that no sum exceeds 2^53, where numbers stop being exact. */
const LARGE = 2 ** 52

/** @param readUpTo the number of the last change that all peers have read */
export function createSpend(maxRows: number, readUpTo: () => number): Spend {
  const scopes = new Map<string, Map<string, Entry>>()
  const log = createChangeLog<Entry>()
  /** The latest change when the last page was made. */
  let paged = 0
  let births = 0
  const find = ({ scope, key }: StateId): Entry | undefined => scopes.get(scope.text)?.get(key)
  /** Whether nobody needs a row: its tokens are refilled, and all peers have read it. */
  const isOver = ({ at, plan, changed }: Entry, now: Micros): boolean => now - at >= plan.emptyBefore.micros && changed <= readUpTo()
  const begin = ({ scope, key }: StateId, plan: BucketPlan, at: Micros): Entry => {
    births += 1
    const entry: Entry = { id: { scope, key }, plan, most: undefined, born: births, value: 0, at, changed: 0 }
    const keys = scopes.get(scope.text) ?? new Map<string, Entry>()
    scopes.set(scope.text, keys.set(key, entry))
    return entry
  }
  return {
    get size() {
      return log.size
    },
    hasRoom: (id) => log.size < maxRows || find(id) !== undefined,
    add({ id, limit, cost }, at) {
      const plan = limit.plan as BucketPlan
      const entry = find(id) ?? begin(id, plan, at)
      if (entry.value > 0 && (isOver(entry, at) || (entry.value >= LARGE && entry.changed <= readUpTo()))) {
        births += 1
        Object.assign(entry, { born: births, value: 0, most: undefined })
      } else if (entry.plan !== plan) entry.most = most(entry.most ?? entry.plan, plan)
      entry.value += cost
      entry.plan = plan
      entry.at = Math.max(entry.at, at)
      // A row that no page contains yet keeps its change number. Otherwise each call of a busy key would grow the log.
      if (entry.changed <= paged) log.change(entry, entry.changed === 0)
    },
    page(after) {
      paged = log.last
      const found = log.after(after, PAGE_ROWS + 1)
      const all = found.length <= PAGE_ROWS
      const rows: SpendRow[] = []
      let cursor = after
      for (const entry of found.slice(0, PAGE_ROWS)) {
        const { id, plan, most: largest, born, value, changed } = entry
        rows.push({ scope: id.scope.text, key: id.key, policy: `${plan.n}/${plan.m}/${plan.burst}`, most: largest, born, value })
        cursor = changed
      }
      return { rows, cursor: all ? paged : cursor, all, births }
    },
    sweep(now) {
      for (const [text, keys] of scopes) {
        for (const [key, entry] of keys) {
          if (!isOver(entry, now)) continue
          log.remove(entry)
          keys.delete(key)
        }
        if (keys.size === 0) scopes.delete(text)
      }
    },
  }
}

/** Admits over every interval at least as much as each of two limits. */
function most(one: Envelope, other: Envelope): Envelope {
  const { n, m } = one.n / one.m < other.n / other.m ? other : one
  return { n, m, burst: Math.max(one.burst, other.burst) }
}
