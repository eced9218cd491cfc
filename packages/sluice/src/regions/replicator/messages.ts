import { UNITS } from '../rights/limit.ts'
import { type Fields, type Position, MAX_KEY_LENGTH, MAX_NAME_LENGTH, type Reader, reader } from './message-reader.ts'
import type { Region, Roster } from '../rights/roster.ts'
import type { Answer, CellRow, Hello, Run, Status } from '../rights/state.ts'

export type { Position } from './message-reader.ts'

/** A request of one region to another, as plain JSON. Send it unchanged. */
export interface RegionRequest {
  /** The version of the form of messages. */
  readonly version: 1
  /** The region that sends it. */
  readonly from: string
  /** The region that the request is for. Any other region refuses it. */
  readonly to: string
}

/** The answer of one region to a request of another, as plain JSON. Send it unchanged. */
export interface RegionPage {
  /** The version of the form of messages. */
  readonly version: 1
  /** The region that answers. */
  readonly from: string
  /** The region that sent the request. */
  readonly to: string
}

/** A request for the receiver's rows (units that it gave to the sender) since a position, and a report of what the sender needs. */
export interface Pull {
  readonly from: Region
  readonly to: Region
  readonly rows: Position | undefined
  /** The sender's needs that changed after its change number `after`; all if `after` is 0. */
  readonly needs: readonly Need[]
  readonly after: number
  /** Up to where the receiver then knows the sender's needs. */
  readonly needsAt: Position
  /** Introduces the sender's run (store lifetime): the receiver sends units only to a run that it has accepted. */
  readonly hello: Hello | undefined
}

export interface Need {
  readonly scope: string
  readonly key: string
  readonly policy: string
  /** As in `Demand`, but at most UNITS. */
  readonly need: number
  /** As in `WholeDemand`: the units that the largest call needs. */
  readonly cost: number
  readonly units: number
  /** Quota units that the sender received from the message's receiver since the weights last changed. */
  readonly received: number
}

/** The answer to a `Pull`. */
export interface Pulled {
  readonly from: Region
  readonly to: Region
  readonly run: Run
  /** How many runs (store lifetimes) of the reader the answering region has accepted. */
  readonly joins: number
  readonly answer: Answer | undefined
  readonly rows: readonly CellRow[]
  readonly status: Status | undefined
  /** The position from which the next pull reads rows. */
  readonly cursor: number
  /** How far the answering region knows the reader's needs; undefined if it needs all again. */
  readonly needsAt: Position | undefined
}

/** The most rows in a page. */
export const PAGE_ROWS = 1_000
/** The most needs in a request. */
export const REQUEST_NEEDS = 250

/** Whether a key is short enough for messages. A peer would refuse the whole message, so quota of longer keys is never sent. */
export function isNameable({ scope, key }: { readonly scope: { readonly text: string }; readonly key: string }): boolean {
  return scope.text.length > 0 && scope.text.length <= MAX_NAME_LENGTH && key.length <= MAX_KEY_LENGTH
}

export function requestOf({ from, to, rows, needs, after, needsAt, hello }: Pull): RegionRequest {
  const greeting = hello && { run: hello.run, toRun: hello.toRun, joins: hello.joins, seen: hello.seen }
  // Without field names, which would be half of the message.
  const lists = needs.map(({ scope, key, policy, need, cost, units, received }) => [scope, key, policy, need, cost, units, received])
  const message = { version: 1, from, to, rows: rows ?? null, needs: lists, after, needsAt, hello: greeting ?? null } as const
  return message
}

export function pageOf(pulled: Pulled): RegionPage {
  const { from, to, run, joins, answer, rows, status, cursor, needsAt } = pulled
  const message = {
    version: 1,
    from,
    to,
    run,
    joins,
    answer: answer === undefined ? null : { ...statusOf(answer), seen: answer.seen },
    rows: rows.map(({ scope, key, row }) => {
      const { units, tokens, base, policy, era, toRun } = row
      return [scope, key, row.run, toRun ?? null, era, units, tokens, base, policy]
    }),
    status: status === undefined ? null : statusOf(status),
    cursor,
    needsAt: needsAt ?? null,
  } as const
  return message
}

/** @throws LimiterError INVALID_OPTIONS that names the place, the value and what is allowed */
export function readRequest(value: unknown, self: Region, peers: readonly Region[]): Pull {
  const read = reader('request')
  const fields = read.fields('', value, ['version', 'from', 'to', 'rows', 'needs', 'after', 'needsAt', 'hello'])
  read.one('version', fields['version'], [1])
  const from = read.one('from', fields['from'], peers)
  const to = read.one('to', fields['to'], [self])
  return {
    from,
    to,
    rows: read.optional('rows', fields['rows'], read.position),
    needs: read.list('needs', fields['needs'], REQUEST_NEEDS, (where, found) => {
      const [scope, key, policy, need, cost, units, received] = read.tuple(where, found, 7)
      return {
        scope: read.name(`${where} scope`, scope),
        key: read.key(`${where} key`, key),
        policy: read.policy(`${where} policy`, policy),
        need: read.count(`${where} need`, need, UNITS),
        cost: read.count(`${where} cost`, cost, UNITS),
        units: read.count(`${where} units`, units, UNITS),
        received: read.count(`${where} received`, received),
      }
    }),
    after: read.count('after', fields['after']),
    needsAt: read.position('needsAt', fields['needsAt']),
    hello: read.optional('hello', fields['hello'], (where, hello) => {
      const { run, toRun, joins, seen } = read.fields(where, hello, ['run', 'toRun', 'joins', 'seen'])
      return {
        from,
        to,
        run: read.name(`${where}.run`, run),
        toRun: read.name(`${where}.toRun`, toRun),
        joins: read.count(`${where}.joins`, joins),
        seen: read.count(`${where}.seen`, seen),
      }
    }),
  }
}

const PAGE_FIELDS = ['version', 'from', 'to', 'run', 'joins', 'answer', 'rows', 'status', 'cursor', 'needsAt'] as const

/** @throws LimiterError INVALID_OPTIONS that names the place, the value and what is allowed */
export function readPage(value: unknown, from: Region, to: Region): Pulled {
  const read = reader(`page of region ${from}`)
  const page = read.fields('', value, PAGE_FIELDS)
  read.one('version', page['version'], [1])
  read.one('from', page['from'], [from])
  read.one('to', page['to'], [to])
  const status = (where: string, found: unknown): Status => {
    const fields = read.fields(where, found, STATUS_FIELDS)
    return statusIn(read, where, fields, from, to)
  }
  return {
    from,
    to,
    run: read.name('run', page['run']),
    joins: read.count('joins', page['joins']),
    answer: read.optional('answer', page['answer'], (where, found) => {
      const fields = read.fields(where, found, [...STATUS_FIELDS, 'seen'])
      return { ...statusIn(read, where, fields, from, to), seen: read.count(`${where}.seen`, fields['seen']) }
    }),
    rows: read.list('rows', page['rows'], PAGE_ROWS, (where, row) => {
      const [scope, key, run, toRun, era, units, tokens, base, policy] = read.tuple(where, row, 9)
      const sums = { units: read.count(`${where} units`, units), tokens: read.count(`${where} tokens`, tokens) }
      return {
        scope: read.name(`${where} scope`, scope),
        key: read.key(`${where} key`, key),
        row: {
          from,
          to,
          run: read.name(`${where} run`, run),
          toRun: read.optional(`${where} toRun`, toRun, read.name),
          era: read.count(`${where} era`, era),
          ...sums,
          base: read.count(`${where} base`, base, sums.tokens),
          policy: read.policy(`${where} policy`, policy),
        },
      }
    }),
    status: read.optional('status', page['status'], status),
    cursor: read.count('cursor', page['cursor']),
    needsAt: read.optional('needsAt', page['needsAt'], read.position),
  }
}

const STATUS_FIELDS = ['run', 'toRun', 'phase', 'era', 'roster', 'next'] as const

function statusOf({ run, toRun, phase, era, roster, next }: Status) {
  return { run, toRun: toRun ?? null, phase, era, roster: rosterOf(roster), next: next === undefined ? null : rosterOf(next) }
}

function rosterOf({ version, weights, gone = [] }: Roster) {
  return { version, weights: Object.fromEntries(weights), gone }
}

function statusIn(read: Reader, where: string, fields: Fields, from: Region, to: Region): Status {
  return {
    from,
    to,
    run: read.name(`${where}.run`, fields['run']),
    toRun: read.optional(`${where}.toRun`, fields['toRun'], read.name),
    phase: read.one(`${where}.phase`, fields['phase'], ['learning', 'open', 'closed'] as const),
    era: read.count(`${where}.era`, fields['era']),
    roster: read.roster(`${where}.roster`, fields['roster']),
    next: read.optional(`${where}.next`, fields['next'], read.roster),
  }
}
