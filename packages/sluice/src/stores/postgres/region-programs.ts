import { InvalidReply, validated } from '../batch/replay.ts'
import { cellName, cellNamed } from '../batch/cell-name.ts'
import type { FoundRegion, RegionPort } from '../region-port.ts'
import type { StateId } from '../store.ts'
import { arrayText, digestOf, planIdOf } from './encode.ts'
import type { Statement } from './lanes.ts'
import type { Query } from './query.ts'

const LEFT = '-'
/** Arguments of the function `region` if it only reads. */
const TO_READ = ['', '', '', '0', '', LEFT, LEFT, '0'] as const

/** Reads a key's state, and its rows of sent and received units (parts of its limit). Replaces them only if they have not changed since. */
export function regionPort(query: Query, statements: Readonly<Record<'region' | 'region_rows' | 'region_needs', Statement>>): RegionPort {
  const cellOf = (id: StateId | undefined): string => (id === undefined ? '' : digestOf(id))
  return {
    async read(id, now, options) {
      const [row] = await query(statements.region, [String(now), cellOf(id), ...TO_READ], options, 'none')
      const found = answerOf(row?.['reply'])
      return typeof found === 'number' ? invalid(found) : found
    },
    async write(id, { run, begins, cell }, { record, bucket, rows, maxCells = 0 }, now, options) {
      const state = bucket === undefined ? LEFT : bucket === null ? '' : arrayText([String(planIdOf(bucket.slice(4))), ...bucket])
      const values = [
        String(now),
        cellOf(id),
        run,
        begins,
        cell.digest,
        String(cell.change),
        record === undefined ? '' : JSON.stringify(record),
        state,
        rows === undefined ? LEFT : rows === null || id === undefined ? '' : `${cellName(id)} ${rows}`,
        String(maxCells),
      ]
      const [row] = await query(statements.region, values, options, 'wait')
      return answerOf(row?.['reply'])
    },
    async shareNeeds(process, entry, keepFor, most, options) {
      const values = [process, entry === undefined ? '' : JSON.stringify(entry), String(keepFor), String(most)]
      const [row] = await query(statements.region_needs, values, options, 'wait')
      const reply = row?.['reply']
      return validated('postgres: the function', reply, () => {
        const found = parsed(reply)
        if (!Array.isArray(found)) throw new InvalidReply()
        return found.map((text) => parsed(text))
      })
    },
    async changedSince(cursor, most, now, options) {
      const [row] = await query(statements.region_rows, [String(now), String(cursor), String(most)], options, 'none')
      const reply = row?.['reply']
      return validated('postgres: the function', reply, () => {
        const found = parsed(reply)
        if (!Array.isArray(found)) throw new InvalidReply()
        const [run = '', at = 0, record, changes = 0, rows = []] = found
        if (typeof run !== 'string' || !Array.isArray(rows) || !Number.isSafeInteger(changes)) throw new InvalidReply()
        const all = rows.length < most
        return {
          run,
          now: at,
          record: contentOf(record),
          cursor: all ? changes : Math.max(cursor, ...rows.map(([change]) => change)),
          all,
          rows: rows.map(([, content]) => rowsIn(content)),
        }
      })
    },
  }
}

/** The number of the change that was made; or what is there now, if it had changed. @throws StoreFailure protocol */
function answerOf(reply: unknown): number | FoundRegion {
  return validated('postgres: the function', reply, () => {
    const found = parsed(reply)
    if (Number.isSafeInteger(found)) return found as number
    if (!Array.isArray(found)) throw new InvalidReply()
    const [run, now, begins, record, bucket, digest, ends, change, rows] = found
    const texts = [run, begins, digest].every((text) => typeof text === 'string')
    if (!texts || ![now, ends, change, ...(bucket ?? [])].every(Number.isSafeInteger)) throw new InvalidReply()
    const cell = { bucket: bucket ?? undefined, digest, ends, change, rows: typeof rows === 'string' ? rowsIn(rows).rows : undefined }
    return { run, now, begins, record: contentOf(record), cell }
  })
}

function invalid(reply: unknown): never {
  return validated('postgres: the function', reply, () => {
    throw new InvalidReply()
  })
}

/** The text is a cell's name, then its rows. @throws InvalidReply */
function rowsIn(text: unknown): { readonly id: StateId; readonly rows: string } {
  const { id, rest } = cellNamed(String(text))
  return { id, rows: rest }
}

function contentOf(text: unknown): unknown {
  return typeof text === 'string' ? parsed(text) : undefined
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    throw new InvalidReply()
  }
}
