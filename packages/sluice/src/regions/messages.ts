import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { planIn, UNITS } from './limit.ts'
import type { Region, Roster } from './roster.ts'
import type { Answer, CellRow, Hello, Run, Status } from './state.ts'

/** A request of one region to another, as plain JSON: send it as it is. */
export interface RegionRequest {
  /** Of this form of messages. */
  readonly version: 1
  /** The region that asks. */
  readonly from: string
  /** The region that is asked: another one refuses the request. */
  readonly to: string
}

/** What a region returns to a request of another one, as plain JSON: send it as it is. */
export interface RegionPage {
  /** Of this form of messages. */
  readonly version: 1
  /** The region that answers. */
  readonly from: string
  /** The region that asked. */
  readonly to: string
}

/** How far one region has read another one. A cursor counts only for the run that it is of. */
export interface Position {
  readonly run: Run
  readonly at: number
}

/** A request for what changed since a position. */
export interface Pull {
  readonly from: Region
  readonly to: Region
  readonly rows: Position | undefined
  /** What this region needs, as far as it has changed since `after`; 0: all of it. */
  readonly needs: readonly Need[]
  readonly after: number
  /** How far these needs go. */
  readonly needsAt: Position
  /** Of a new run that the peer must bind before it sends rows. */
  readonly hello: Hello | undefined
}

/** What a region needs of a key. */
export interface Need {
  readonly scope: string
  readonly key: string
  readonly policy: string
  /** As in `Demand`, at most UNITS. */
  readonly need: number
  readonly units: number
  /** What it has received of the other region in this era. */
  readonly received: number
}

/** What a pull returns. */
export interface Pulled {
  readonly from: Region
  readonly to: Region
  readonly run: Run
  /** How many runs of the reader were bound. */
  readonly joins: number
  readonly answer: Answer | undefined
  readonly rows: readonly CellRow[]
  readonly status: Status | undefined
  /** Where the next pull of rows begins. */
  readonly cursor: number
  /** How far the reader's needs are known. */
  readonly needsAt: Position | undefined
}

/** The most rows in a page. */
export const PAGE_ROWS = 1_000
/** The most needs in a request. */
export const REQUEST_NEEDS = 250
/** The longest key of which units are sent, in UTF-16 units: a page of such keys is still small. */
export const MAX_KEY_LENGTH = 512
const MAX_NAME_LENGTH = 256

export function requestOf({ from, to, rows, needs, after, needsAt, hello }: Pull): RegionRequest {
  const greeting = hello && { run: hello.run, toRun: hello.toRun, joins: hello.joins, seen: hello.seen }
  // Lists, because a message has many: the names of fields would be half of it.
  const lists = needs.map(({ scope, key, policy, need, units, received }) => [scope, key, policy, need, units, received])
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

/**
 * Reads a request that came from another machine.
 * @throws LimiterError INVALID_OPTIONS that names the place, the value and what is allowed
 */
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
      const [scope, key, policy, need, units, received] = read.tuple(where, found, 6)
      return {
        scope: read.name(`${where} scope`, scope),
        key: read.key(`${where} key`, key),
        policy: read.policy(`${where} policy`, policy),
        need: read.count(`${where} need`, need, UNITS),
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

/**
 * Reads a page that came from another machine. All of it is checked before any of it is used.
 * @throws LimiterError INVALID_OPTIONS that names the place, the value and what is allowed
 */
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

function rosterOf({ version, weights }: Roster) {
  return { version, weights: Object.fromEntries(weights) }
}

type Fields = Readonly<Record<string, unknown>>
type Reader = ReturnType<typeof reader>

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

/** Reads the parts of a message; each throws for a value that no region sends. */
function reader(message: string) {
  const refuse = (where: string, value: unknown, expected: string): never => {
    throw new LimiterError('INVALID_OPTIONS', `${message}: ${where === '' ? 'it' : where} is ${shown(value)}, expected ${expected}`)
  }
  const fields = (where: string, value: unknown, names: readonly string[]): Fields => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(where, value, `an object with ${names.join(', ')}`)
    const unknown = Object.keys(value).find((name) => !names.includes(name))
    const missing = names.find((name) => !Object.hasOwn(value, name))
    const wrong = unknown ?? missing
    if (wrong === undefined) return value as Fields
    const place = where === '' ? wrong : `${where}.${wrong}`
    throw new LimiterError('INVALID_OPTIONS', `${message}: ${place} is ${unknown === undefined ? 'missing' : 'unknown'}`)
  }
  const count = (where: string, value: unknown, most: number = Number.MAX_SAFE_INTEGER): number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
      ? (value as number)
      : refuse(where, value, `a whole number from 0 to ${most}`)
  const text =
    (least: number, most: number) =>
    (where: string, value: unknown): string =>
      typeof value === 'string' && value.length >= least && value.length <= most
        ? value
        : refuse(where, value, `a text of ${least} to ${most} characters`)
  const name = text(1, MAX_NAME_LENGTH)
  const list = <T>(where: string, value: unknown, most: number, one: (where: string, value: unknown) => T): T[] =>
    Array.isArray(value) && value.length <= most
      ? value.map((item, index) => one(`${where}[${index}]`, item))
      : refuse(where, value, `a list of at most ${most}`)
  return {
    fields,
    count,
    name,
    // The key of a limit that all callers share is empty.
    key: text(0, MAX_KEY_LENGTH),
    list,
    tuple: (where: string, value: unknown, length: number): readonly unknown[] =>
      Array.isArray(value) && value.length === length ? value : refuse(where, value, `a list of ${length}`),
    one: <T>(where: string, value: unknown, allowed: readonly T[]): T =>
      allowed.includes(value as T) ? (value as T) : refuse(where, value, allowed.join(' or ')),
    optional: <T>(where: string, value: unknown, one: (where: string, value: unknown) => T): T | undefined =>
      value === null ? undefined : one(where, value),
    position: (where: string, value: unknown): Position => {
      const { run, at } = fields(where, value, ['run', 'at'])
      return { run: name(`${where}.run`, run), at: count(`${where}.at`, at) }
    },
    policy: (where: string, value: unknown): string =>
      typeof value === 'string' && planIn(value) !== undefined ? value : refuse(where, value, 'the numbers of a token bucket'),
    roster: (where: string, value: unknown): Roster => {
      const { version, weights } = fields(where, value, ['version', 'weights'])
      if (typeof weights !== 'object' || weights === null || Array.isArray(weights)) return refuse(`${where}.weights`, weights, 'an object')
      const named = list(`${where}.weights`, Object.entries(weights), UNITS, (place, one) => {
        const [region, weight] = one as [string, unknown]
        return [name(place, region), count(`${place} ${region}`, weight, UNITS)] as const
      })
      count(
        `the sum of ${where}.weights`,
        named.reduce((sum, [, weight]) => sum + weight, 0),
        UNITS,
      )
      return { version: count(`${where}.version`, version), weights: new Map(named) }
    },
  }
}
