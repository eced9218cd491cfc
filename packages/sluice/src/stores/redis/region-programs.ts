import { isDigest, unescapeText } from '../../keys/encode.ts'
import { validated, InvalidReply } from '../batch/replay.ts'
import { cellName, cellNamed } from '../batch/cell-name.ts'
import type { FoundCell, FoundRegion, RegionPort } from '../region-port.ts'
import type { CallOptions, StateId } from '../store.ts'
import { NEWER } from './failures.ts'
import { namedOf } from './layout.ts'
import { taggedName } from './names.ts'
import { cellsProgram, needsProgram, type Program, regionProgram } from './programs.gen.ts'
import { integerOf } from './reply.ts'
import { bucketDigits } from './swap.ts'
import { NEWER_ENDS, readValue } from './value.ts'

/** Runs a program on keys; rejects with StoreFailure. */
export type SendKeys = (
  program: Program,
  keys: readonly string[],
  args: readonly (string | number)[],
  options: CallOptions | undefined,
) => Promise<unknown>

/** Keys of a region's data. They differ from keys of states, which have a brace after the prefix. */
export interface RegionKeys {
  /** The key of the beginning of the region's record. */
  readonly record: string
  readonly needs: string
  /** In the order of the KEYS of region.lua and cells.lua. */
  readonly region: readonly string[]
  stateOf(id: StateId): string
}

export function regionKeys(prefix: string): RegionKeys {
  const record = `${prefix}region`
  return {
    record,
    needs: `${prefix}region:needs`,
    region: [record, `${prefix}region:record`, `${prefix}region:changes`, `${prefix}region:rows`, `${prefix}region:cells`],
    stateOf(id) {
      const { name, key } = namedOf(id)
      return prefix + taggedName(name, key)
    },
  }
}

/** Rows are what regions sent and received of a key. */
export function regionPort(send: SendKeys, keys: RegionKeys): RegionPort {
  const keysOf = (id: StateId | undefined): readonly string[] => (id === undefined ? keys.region : [...keys.region, keys.stateOf(id)])
  const read = (reply: unknown): FoundRegion => validated('redis: region', reply, () => foundRegion(reply))
  return {
    read: async (id, now, options) => read(await send(regionProgram, keysOf(id), [JSON.stringify([now, '', ''])], options)),
    async write(id, found, { record, bucket, expires = 0, rows, maxCells = 0 }, now, options) {
      const { cell } = found
      if (cell.ends === NEWER_ENDS) throw NEWER
      const region = [now, found.run, found.begins, record === undefined ? '' : JSON.stringify(record)]
      const state = bucket === undefined ? '-' : bucket === null ? '' : bucketDigits(bucket)
      const own = [
        cell.digest,
        cell.change,
        state,
        cell.ends,
        expires,
        rows === undefined ? '-' : rows === null || id === undefined ? '' : rowsText(id, rows),
      ]
      const all = id === undefined ? region : [...region, ...own, maxCells]
      const reply = integerOf(await send(regionProgram, keysOf(id), [JSON.stringify(all)], options))
      return typeof reply === 'number' ? reply : read(reply)
    },
    async touch(id, found, rows, maxCells, now, options) {
      const same = [now, found.run, found.begins, '', '', found.cell.change, '-', 0, 0, rowsText(id, rows), maxCells]
      const reply = integerOf(await send(regionProgram, keysOf(id), [JSON.stringify(same)], options))
      return typeof reply === 'number' ? undefined : read(reply)
    },
    async shareNeeds(process, entry, keepFor, most, options) {
      const args = [0, process, keepFor, most, entry === undefined ? '' : JSON.stringify(entry)]
      const reply = await send(needsProgram, [keys.needs], [JSON.stringify(args)], options)
      return validated('redis: needs', reply, () => listOf(reply).map((found) => parsed(textOf(found))))
    },
    async changedSince(cursor, most, now, options) {
      const reply = await send(cellsProgram, keys.region, [JSON.stringify([now, cursor, most])], options)
      return validated('redis: cells', reply, () => {
        const [run, at, begins, record, changes, all, cells, ...pairs] = listOf(reply).map(integerOf)
        const known = Array.from({ length: pairs.length / 2 }, (_, index) =>
          rowsNamed(textOf(pairs[2 * index]), textOf(pairs[2 * index + 1])),
        )
        const last = all === 1 ? (changes as number) : Math.max(cursor, ...known.map(({ change }) => change))
        return {
          run: textOf(run),
          now: at as number,
          record: recordOf(begins, record).record,
          cells: cells as number,
          cursor: last,
          all: all === 1,
          rows: known,
        }
      })
    },
  }
}

/** @throws InvalidReply */
function foundRegion(reply: unknown): FoundRegion {
  const [run, now, begins, record, value, digest, rows] = listOf(reply).map(integerOf)
  if (!Number.isSafeInteger(now)) throw new InvalidReply()
  return { run: textOf(run), now: now as number, ...recordOf(begins, record), cell: cellOf(value, digest, rows) }
}

function cellOf(value: unknown, digest: unknown, found: unknown): FoundCell {
  const rows = found instanceof Uint8Array ? rowsIn(textOf(found)) : { change: 0, rows: undefined }
  const bytes = value instanceof Uint8Array ? value : null
  const { numbers, tag, ends } = readValue(bytes)
  return {
    bucket: tag === 'tb' ? numbers?.slice(0, 7) : undefined,
    digest: digest instanceof Uint8Array ? textOf(digest) : '',
    ends,
    change: rows.change,
    rows: rows.rows,
  }
}

function recordOf(begins: unknown, record: unknown): Pick<FoundRegion, 'begins' | 'record'> {
  if (!(record instanceof Uint8Array)) return { begins: '', record: undefined }
  return { begins: textOf(begins), record: parsed(textOf(record)) }
}

/** docs/decisions/0034-regions-on-redis.md has the form of this text. */
function rowsText(id: StateId, rows: string): string {
  const { name, key } = namedOf(id)
  return isDigest(key) ? `=${cellName(id)} ${rows}` : `${name.length - key.length} ${rows}`
}

/** @throws InvalidReply */
function rowsIn(text: string): {
  readonly change: number
  readonly length: number | undefined
  readonly id?: StateId
  readonly rows: string
} {
  const [, change, length, rows] = /^(\d+) (?:(\d+) |=)(.+)$/.exec(text) ?? []
  if (rows === undefined) throw new InvalidReply()
  if (length !== undefined) return { change: Number(change), length: Number(length), rows }
  const { id, rest } = cellNamed(rows)
  return { change: Number(change), length: undefined, id, rows: rest }
}

/** @throws InvalidReply */
function rowsNamed(name: string, text: string): { readonly change: number; readonly id: StateId; readonly rows: string } {
  const { change, length, id, rows } = rowsIn(text)
  return { change, id: id ?? { scope: { text: name.slice(0, length) }, key: unescapeText(name.slice(length)) }, rows }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidReply()
  }
}

function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new InvalidReply()
  return reply
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) throw new InvalidReply()
  return new TextDecoder().decode(value)
}
