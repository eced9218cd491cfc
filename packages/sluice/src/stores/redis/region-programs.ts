import { validated, InvalidReply } from '../batch/replay.ts'
import type { FoundCell, FoundRegion, RegionPort } from '../region-port.ts'
import type { CallOptions, StateId } from '../store.ts'
import { NEWER } from './failures.ts'
import { namedOf } from './layout.ts'
import { taggedName } from './names.ts'
import { cellsProgram, needsProgram, type Program, regionProgram } from './programs.gen.ts'
import { bucketDigits } from './swap.ts'
import { NEWER_ENDS, readValue } from './value.ts'

/** Runs a program on keys; rejects with StoreFailure. */
export type SendKeys = (
  program: Program,
  keys: readonly string[],
  args: readonly (string | number)[],
  options: CallOptions | undefined,
) => Promise<unknown>

/**
 * The keys of a region's data and of states, after the store's prefix. The key of a state has a brace after the prefix, so it is none of a
 * region's data.
 */
export interface RegionKeys {
  readonly region: readonly [record: string, changes: string, cells: string]
  readonly needs: string
  stateOf(id: StateId): string
  rowsOf(id: StateId): string
  /** The same, from the key of the state. */
  rowsOfState(key: string): string
}

export function regionKeys(prefix: string): RegionKeys {
  const nameOf = (id: StateId): string => {
    const { name, key } = namedOf(id)
    return taggedName(name, key)
  }
  return {
    region: [`${prefix}region`, `${prefix}region:changes`, `${prefix}region:cells`],
    needs: `${prefix}region:needs`,
    stateOf: (id) => prefix + nameOf(id),
    rowsOf: (id) => `${prefix}region:rows:${nameOf(id)}`,
    rowsOfState: (key) => `${prefix}region:rows:${key.slice(prefix.length)}`,
  }
}

/** The programs by which rights are sent between regions: states and rows are replaced by compare-and-set. */
export function regionPort(send: SendKeys, keys: RegionKeys): RegionPort {
  const keysOf = (id: StateId | undefined): readonly string[] =>
    id === undefined ? keys.region : [...keys.region, keys.stateOf(id), keys.rowsOf(id)]
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
        rows === undefined ? '-' : rows === null ? '' : JSON.stringify(rows),
      ]
      const all = id === undefined ? region : [...region, ...own, maxCells]
      const reply = await send(regionProgram, keysOf(id), [JSON.stringify(all)], options)
      return typeof reply === 'number' ? reply : read(reply)
    },
    async touch(id, found, rows, maxCells, now, options) {
      const same = [now, found.run, found.begins, '', '', found.cell.change, '-', 0, 0, JSON.stringify(rows), maxCells]
      const reply = await send(regionProgram, keysOf(id), [JSON.stringify(same)], options)
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
        const [run, at, record, changes, all, cells, ...rows] = listOf(reply)
        const known = rows.filter((row) => row !== null).map((row) => numbered(textOf(row)))
        const last = all === 1 ? (changes as number) : Math.max(cursor, ...known.map(({ change }) => change))
        return {
          run: textOf(run),
          now: at as number,
          record: recordOf(record).record,
          cells: cells as number,
          cursor: last,
          all: all === 1,
          rows: known.map((row) => row.value),
        }
      })
    },
  }
}

/** @throws InvalidReply */
function foundRegion(reply: unknown): FoundRegion {
  const [run, now, record, value, digest, rows] = listOf(reply)
  if (!Number.isSafeInteger(now)) throw new InvalidReply()
  return { run: textOf(run), now: now as number, ...recordOf(record), cell: cellOf(value, digest, rows) }
}

function cellOf(value: unknown, digest: unknown, found: unknown): FoundCell {
  const rows = found instanceof Uint8Array ? numbered(textOf(found)) : { change: 0, value: undefined }
  const bytes = value instanceof Uint8Array ? value : null
  const { numbers, tag, ends } = readValue(bytes)
  return {
    bucket: tag === 'tb' ? numbers?.slice(0, 7) : undefined,
    digest: digest instanceof Uint8Array ? textOf(digest) : '',
    ends,
    change: rows.change,
    rows: rows.value,
  }
}

function recordOf(found: unknown): Pick<FoundRegion, 'begins' | 'record'> {
  if (!(found instanceof Uint8Array)) return { begins: '', record: undefined }
  const text = textOf(found)
  const begins = /^\S+ \d+ /.exec(text)?.[0] ?? ''
  return { begins, record: begins === '' ? undefined : parsed(text.slice(begins.length)) }
}

function numbered(text: string): { readonly change: number; readonly value: unknown } {
  const at = text.indexOf(' ')
  return { change: Number(text.slice(0, at)), value: parsed(text.slice(at + 1)) }
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
