import { LimiterError } from '../../errors/limiter-error.ts'
import type { SpendPage, SpendRow } from './spend.ts'
import { type Position, reader } from '../replicator/message-reader.ts'
import { PAGE_ROWS, type RegionPage, type RegionRequest } from '../replicator/messages.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/** Requests what the region `to` has spent since the position `read`. */
export interface SpendRequest {
  readonly from: Region
  readonly to: Region
  /** How far `from` has read; undefined if it has read nothing. */
  readonly read: Position | undefined
}

/** The answer to a `SpendRequest`. */
export interface SpendAnswer extends SpendPage {
  readonly run: Run
}

const MODE = 'counters'
const REQUEST_FIELDS = ['version', 'mode', 'from', 'to', 'read'] as const
const PAGE_FIELDS = ['version', 'mode', 'from', 'to', 'run', 'rows', 'cursor', 'all', 'births'] as const

export function spendRequest({ from, to, read }: SpendRequest): RegionRequest {
  const message = { version: 1, mode: MODE, from, to, read: read ?? null } as const
  return message
}

export function spendPage(from: Region, to: Region, run: Run, { rows, cursor, all, births }: SpendPage): RegionPage {
  // Without field names, which would be half of the message.
  const lists = rows.map(({ scope, key, policy, most, born, value }) => {
    return [scope, key, policy, most ? [most.n, most.m, most.burst] : null, born, value]
  })
  const message = { version: 1, mode: MODE, from, to, run, rows: lists, cursor, all, births } as const
  return message
}

/** @throws LimiterError INVALID_OPTIONS that names the place, the value and what is allowed */
export function readSpendRequest(value: unknown, self: Region, peers: readonly Region[]): SpendRequest {
  const read = reader('request')
  refuseEscrow('request', value)
  const fields = read.fields('', value, REQUEST_FIELDS)
  read.one('version', fields['version'], [1])
  read.one('mode', fields['mode'], [MODE])
  return {
    from: read.one('from', fields['from'], peers),
    to: read.one('to', fields['to'], [self]),
    read: read.optional('read', fields['read'], read.position),
  }
}

/** @throws LimiterError INVALID_OPTIONS for a page that no region sends */
export function readSpendPage(value: unknown, from: Region, to: Region): SpendAnswer {
  const name = `page of region ${from}`
  const read = reader(name)
  refuseEscrow(name, value)
  const page = read.fields('', value, PAGE_FIELDS)
  read.one('version', page['version'], [1])
  read.one('mode', page['mode'], [MODE])
  read.one('from', page['from'], [from])
  read.one('to', page['to'], [to])
  return {
    run: read.name('run', page['run']),
    rows: read.list('rows', page['rows'], PAGE_ROWS, (where, row): SpendRow => {
      const [scope, key, policy, most, born, spent] = read.tuple(where, row, 6)
      return {
        scope: read.name(`${where} scope`, scope),
        key: read.key(`${where} key`, key),
        policy: read.policy(`${where} policy`, policy),
        most: read.optional(`${where} most`, most, (place, list) => {
          const [n, m, burst] = read.tuple(place, list, 3)
          return { n: read.positive(`${place}.n`, n), m: read.positive(`${place}.m`, m), burst: read.positive(`${place}.burst`, burst) }
        }),
        born: read.count(`${where} born`, born),
        value: read.count(`${where} value`, spent),
      }
    }),
    cursor: read.count('cursor', page['cursor']),
    all: read.one('all', page['all'], [true, false]),
    births: read.count('births', page['births']),
  }
}

/** A message without `mode` is from a region with mode `escrow`; all regions must have the same mode. */
function refuseEscrow(message: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || 'mode' in value) return
  throw new LimiterError('INVALID_OPTIONS', `${message}: it is one of mode escrow, and this region has mode counters`)
}
