import { leasing } from '../../algorithms/leased-bucket.ts'
import type { SwapBackend, SwapRow, SwapWrite } from '../families/compare-and-swap.ts'
import { type DecideOptions, StoreFailure } from '../store.ts'
import type { SendProgram } from './changes.ts'
import { classify, NEWER } from './failures.ts'
import { type Named, namedOf } from './layout.ts'
import { FULL, type NewKeys } from './packed/new-keys.ts'
import { swapProgram } from './programs.gen.ts'
import { recordDigits } from './record-value.ts'
import { integerOf } from './reply.ts'
import { NEWER_ENDS, readValue } from './value.ts'

/** Compare-and-swap for algorithms without a program. A row's version is the digest of its value. */
export function swapBackend(send: SendProgram, newKeys: NewKeys | undefined): SwapBackend {
  const sent = (ids: readonly string[], writes: readonly (string | number)[], options: DecideOptions | undefined): Promise<unknown> =>
    send(swapProgram, ids.map(namedBy), [JSON.stringify([options?.now ?? 0, ...writes])], options)
  return {
    name: 'redis',
    clock: 'server',
    idOf(id) {
      const { isLog, key, name } = namedOf(id)
      return `${Number(isLog)} ${key} ${name}`
    },
    limitOf: leasing,
    refuse: (id) => (newKeys?.closed(scopeOf(id)) === true ? FULL : undefined),
    // Each program call has its own bound and deadline.
    run: (attempts) => attempts(),
    classify,
    async read(ids, options) {
      const reply = await sent(ids, [], options)
      const now = Array.isArray(reply) && reply.length === 2 * ids.length + 1 ? integerOf(reply.at(-1)) : undefined
      if (!Number.isSafeInteger(now)) throw nonsense(reply)
      const rows = ids.flatMap((id, index): [string, SwapRow][] => {
        const [value, digest] = [(reply as unknown[])[index], (reply as unknown[])[ids.length + index]]
        if (value === null) return []
        if (!(value instanceof Uint8Array && digest instanceof Uint8Array)) throw nonsense(reply)
        return [[id, rowOf(value, String.fromCodePoint(...digest))]]
      })
      return { rows: new Map(rows), now: now as number }
    },
    async write(rows, options) {
      const ids = rows.map(({ id }) => id)
      const writes = rows.flatMap((row) => [row.version === '0' ? '' : row.version, digitsOf(row), row.until, row.expiresAt])
      const reply = integerOf(await sent(ids, writes, options))
      if (reply !== 0 && reply !== 1) throw nonsense(reply)
      if (reply === 0) return false
      newKeys?.made(rows.filter(({ version }) => version === '0').map(({ id }) => scopeOf(id)))
      return true
    },
  }
}

function namedBy(id: string): Named {
  const [isLog, key = '', name = ''] = id.split(' ')
  return { isLog: isLog === '1', key, name }
}

function scopeOf(id: string): string {
  const { name, key } = namedBy(id)
  return name.slice(0, name.length - key.length)
}

function rowOf(value: Uint8Array, version: string): SwapRow {
  const { numbers = [], tag, ends } = readValue(value)
  const row: SwapRow = { version, numbers, expiresAt: 0, until: ends, ...(tag === undefined ? {} : { tag }) }
  return ends === NEWER_ENDS ? { ...row, failure: NEWER } : row
}

/** Kinds of states, in the top three bits of a value. SIGNED is added to numbers so that they are positive. */
const [BUCKET, WINDOW, COUNTER, SIGNED] = [4n << 53n, 5n << 53n, 6n << 53n, 1n << 53n]

/** Encodes a state, by the algorithm's tag, in its longest form (lua/storage/*-value.lua). */
const FORMS: Readonly<Partial<Record<string, (numbers: readonly number[], until: number) => string>>> = {
  tb: ([zero = 0, ...others]) => seven(zero, BUCKET) + others.map((number) => seven(number)).join(''),
  fw: ([end = 0, count = 0, window = 0, turn = 0]) => seven(end, WINDOW) + seven(count) + seven(window, BigInt(turn) << 52n),
  sc: ([end = 0, current = 0, previous = 0, window = 0, absent = 0]) =>
    seven(end, COUNTER) + seven(current) + seven(previous) + seven(window, BigInt(absent) << 52n),
  ho: recordDigits,
  sl([window = 0, keepFor = 0, ...entries], until) {
    let sum = 0
    const pairs = Array.from({ length: entries.length / 2 }, (_, index) => {
      sum += entries[2 * index + 1] as number
      return seven(entries[2 * index] as number) + seven(sum)
    })
    const newest = pairs.pop() as string
    return `02${seven(until)}${seven(window)}${seven(keepFor)}${seven(0)}${newest}00000000${pairs.join('')}`
  },
}

export function bucketDigits(numbers: readonly number[]): string {
  return (FORMS['tb'] as (numbers: readonly number[], until: number) => string)(numbers, 0)
}

/**
 * In hexadecimal digits; empty if there is no state. Only the digits of a sliding window log contain the end of the key's block. The Lua
 * program adds it to those of other states.
 */
function digitsOf({ numbers, tag = '', until, expiresAt }: SwapWrite): string {
  if (numbers.length === 0) return ''
  return FORMS[tag]?.(numbers, until) ?? `03${seven(expiresAt)}${numbers.map((number) => seven(number, SIGNED)).join('')}`
}

/** `number + high` in seven bytes, as hexadecimal digits. */
function seven(number: number, high = 0n): string {
  return (BigInt(number) + high).toString(16).padStart(14, '0')
}

function nonsense(reply: unknown): StoreFailure {
  return new StoreFailure('protocol', 'unknown', `redis: the program answered ${JSON.stringify(reply)?.slice(0, 200)}`)
}
