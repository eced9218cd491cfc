import type { AlgorithmTag } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { HOLD_TAG } from '../../algorithms/hold-record.ts'
import type { Micros } from '../../time/micros.ts'
import { isRecordValue, recordNumbers } from './record-value.ts'
import { unsigned } from './value-bytes.ts'

export interface Stored {
  /** 0 if there is no block. */
  readonly ends: Micros
  /** Absent for concurrency limits, and for algorithms without a Lua script. */
  readonly tag?: AlgorithmTag
  /** In the order of the algorithm's codec; absent if there is no state. */
  readonly numbers?: readonly number[]
}

const NOTHING: Stored = { ends: 0 }
/** A state of a newer version of Sluice is read as a block with this end. No other block ends so late. */
export const NEWER_ENDS: Micros = 9_000_000_000_000_000
const NEWER: Stored = { ends: NEWER_ENDS }
/** First bytes: a state of a newer version, a log, a concurrency limit or an algorithm without a Lua script. */
const [NEWER_BYTE, LOG, OTHER] = [1, 2, 3]
/** How many bytes a block, a log's head and a log's entry have. */
const [BLOCK, HEAD, ENTRY] = [7, 47, 14]
const TURN = 2 ** 52
/**
 * A bucket's value begins with BUCKET in the top three bits, and then the instant at which it was last empty. An instant before 1970 is
 * stored plus EARLY, after EARLY_BUCKET.
 */
const EARLY = 2 ** 53
/** The most microseconds in which a plan may fill a bucket: over a hundred years. */
const MAX_SPAN = 3_200_000_000_000_000
/** The kinds of values, in their top three bits. */
const [EARLY_BUCKET, BUCKET, WINDOW, COUNTER, BLOCKED] = [3, 4, 5, 6, 7]

/** An invalid value counts as absent, and one of a newer version of Sluice as blocked until `NEWER_ENDS`. */
export function readValue(bytes: Uint8Array | null): Stored {
  if (bytes === null) return NOTHING
  if (bytes[0] === LOG) return readLog(bytes)
  if (bytes.length < BLOCK || kindOf(bytes) !== BLOCKED) return readState(bytes) ?? (bytes[0] === NEWER_BYTE ? NEWER : NOTHING)
  const ends = instant(bytes)
  if (bytes.length === BLOCK) return { ends }
  const state = readState(bytes.subarray(BLOCK))
  if (state !== undefined) return { ...state, ends }
  return bytes[BLOCK] === NEWER_BYTE ? NEWER : NOTHING
}

function kindOf(bytes: Uint8Array): number {
  return (bytes[0] as number) >> 5
}

function readState(bytes: Uint8Array): Stored | undefined {
  const kind = kindOf(bytes)
  const { length } = bytes
  if (kind === BUCKET || kind === EARLY_BUCKET) {
    const zero = kind === BUCKET ? instant(bytes) : instant(bytes) - EARLY
    if (length === 12) {
      return bucket([zero, 0, zero + unsigned(bytes, 7, 3), 0, bytes[10] as number, 1, (bytes[11] as number) * MICRO])
    }
    if (length === 28) {
      const [rest, age] = [unsigned(bytes, 7, 3), unsigned(bytes, 10, 5)]
      return bucket([zero, rest, zero + age, 0, unsigned(bytes, 15, 3), unsigned(bytes, 18, 5), unsigned(bytes, 23, 5)])
    }
    return length < 49 || (length - 49) % 28 > 0 ? undefined : bucket([zero, ...sevens(bytes, length)])
  }
  if (bytes[0] === OTHER && length % 7 === 1) {
    return { ends: 0, numbers: Array.from({ length: (length - 8) / 7 }, (_, index) => signed(bytes, 8 + 7 * index)) }
  }
  if (isRecordValue(bytes)) {
    const numbers = recordNumbers(bytes)
    return numbers && { ends: 0, tag: HOLD_TAG as AlgorithmTag, numbers }
  }
  if (kind === WINDOW && length === 21) return windows('fw', bytes)
  if (kind === COUNTER && length === 28) return windows('sc', bytes)
  return undefined
}

/** Undefined if no plan can have written these numbers: computing with them might not be exact. */
function bucket(numbers: readonly number[]): Stored | undefined {
  const [, rest = 0, seen = 0, keepFor = 0, n = 0, m = 0, burst = 0] = numbers
  if (rest >= n || seen > Number.MAX_SAFE_INTEGER || keepFor > MAX_SPAN || m < 1 || burst < 1 || m > Number.MAX_SAFE_INTEGER / MICRO)
    return undefined
  if (n * (burst / MICRO + 2) > 2 ** 53 || (burst / n) * m > MAX_SPAN) return undefined
  return { ends: 0, tag: 'tb', numbers }
}

/** The last seven bytes are the window's length and, in their top four bits, the last number of the state. */
function windows(tag: AlgorithmTag, bytes: Uint8Array): Stored | undefined {
  const last = bytes.length - 7
  const top = bytes[last] as number
  const window = (top & 0xf) * 2 ** 48 + unsigned(bytes, last + 1, 6)
  return window < 1 ? undefined : { ends: 0, tag, numbers: [instant(bytes), ...sevens(bytes, last), window, top >> 4] }
}

/** Numbers of seven bytes, from the second one up to the byte `to`. */
function sevens(bytes: Uint8Array, to: number): number[] {
  const numbers: number[] = []
  for (let at = 7; at < to; at += 7) numbers.push(unsigned(bytes, at, 7))
  return numbers
}

/** The first seven bytes, without the kind in their top three bits. */
function instant(bytes: Uint8Array): Micros {
  return ((bytes[0] as number) & 0x1f) * 2 ** 48 + unsigned(bytes, 1, 6)
}

/** Reads an integer of seven bytes that is stored plus 2^53. */
function signed(bytes: Uint8Array, from: number): number {
  return (unsigned(bytes, from, 3) - 2 ** 21) * 2 ** 32 + unsigned(bytes, from + 3, 4)
}

function readLog(bytes: Uint8Array): Stored {
  const rest = bytes.length - HEAD
  if (rest < 0 || rest % ENTRY !== 0) return NOTHING
  const head = (index: number): number => unsigned(bytes, 1 + 7 * index, 7)
  const [ends, window, keepFor, base, at, sum] = [head(0), head(1), head(2), head(3), head(4), head(5)]
  const skip = unsigned(bytes, 43, 4)
  if (skip > rest / ENTRY || window < 1) return NOTHING
  const numbers = [window, keepFor]
  let before = base
  const add = (time: Micros, through: number): void => {
    numbers.push(time, (through - before + TURN) % TURN)
    before = through
  }
  for (let from = HEAD + skip * ENTRY; from < bytes.length; from += ENTRY) add(unsigned(bytes, from, 7), unsigned(bytes, from + 7, 7))
  add(at, sum)
  return { ends, tag: 'sl', numbers }
}
