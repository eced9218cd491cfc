import type { AlgorithmTag } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'

/** A value as its programs write it (lua/*-value.lua). */
export interface Stored {
  /** Until when a block holds; 0 for none. */
  readonly ends: Micros
  readonly tag?: AlgorithmTag
  /** The state's numbers (its codec's); absent where there is no state. */
  readonly numbers?: readonly number[]
}

const NOTHING: Stored = { ends: 0 }
/** Bytes of a block, of the head of a log, and of each of its entries. */
const [BLOCK, HEAD, ENTRY] = [7, 47, 14]
const TURN = 2 ** 52
/** The head of a bucket counts from 2^55, and its lower 53 bits from 2^53 below where the kind is the lower one. */
const EARLY = 2 ** 53
/** Widths of a long bucket's numbers behind its first instant. */
const LONG = [7, 7, 7, 7, 7, 7]
/** Kinds, in the top three bits of every state: a bucket has the lower one where it was empty before 1970. */
const [EARLY_BUCKET, BUCKET, WINDOW, COUNTER, BLOCKED] = [3, 4, 5, 6, 7]

/** Reads a value of any kind; what is none is nothing, as the programs take it. */
export function readValue(bytes: Uint8Array | null): Stored {
  if (bytes === null) return NOTHING
  if (bytes[0] === 2) return readLog(bytes)
  if (bytes.length < BLOCK || kindOf(bytes) !== BLOCKED) return readState(bytes) ?? NOTHING
  const ends = unsigned(bytes, 0, BLOCK)
  if (bytes.length === BLOCK) return { ends }
  const state = readState(bytes.subarray(BLOCK))
  return state === undefined ? NOTHING : { ...state, ends }
}

function kindOf(bytes: Uint8Array): number {
  return (bytes[0] as number) >> 5
}

function readState(bytes: Uint8Array): Stored | undefined {
  const kind = kindOf(bytes)
  const { length } = bytes
  if (kind === BUCKET || kind === EARLY_BUCKET) {
    const zero = kind === BUCKET ? unsigned(bytes, 0, 7) : unsigned(bytes, 0, 7) - EARLY
    if (length === 12) {
      return bucket([zero, 0, zero + unsigned(bytes, 7, 3), 0, bytes[10] as number, 1, (bytes[11] as number) * MICRO])
    }
    if (length === 28) {
      const [rest, age] = [unsigned(bytes, 7, 3), unsigned(bytes, 10, 5)]
      return bucket([zero, rest, zero + age, 0, unsigned(bytes, 15, 3), unsigned(bytes, 18, 5), unsigned(bytes, 23, 5)])
    }
    const more = (length - 49) / 28
    if (more < 0 || !Number.isInteger(more)) return undefined
    return bucket([zero, ...fields(bytes, [...LONG, ...Array.from({ length: 4 * more }, () => 7)], 7)])
  }
  if (kind === WINDOW && length === 21) return windows('fw', fields(bytes, [7, 7]), bytes)
  if (kind === COUNTER && length === 28) return windows('sc', fields(bytes, [7, 7, 7]), bytes)
  return bytes[0] === 1 ? oldBucket(bytes) : undefined
}

/** Whether numbers that were found may be a plan of a bucket: with others, whole numbers would not stay whole. */
function isPlan(n: number, m: number, burst: number): boolean {
  if (n < 1 || m < 1 || burst < 1 || m > Number.MAX_SAFE_INTEGER / MICRO) return false
  return n * (burst / MICRO + 2) <= 2 ** 53 && (burst / n) * m <= 3_200_000_000_000_000
}

function bucket(numbers: readonly number[]): Stored {
  const [, rest = 0, , , n = 0, m = 0, burst = 0] = numbers
  return rest < n && isPlan(n, m, burst) ? { ends: 0, tag: 'tb', numbers } : NOTHING
}

/** The last seven bytes are the window and, in their top four bits, what is known of plans that take turns. */
function windows(tag: AlgorithmTag, numbers: readonly number[], bytes: Uint8Array): Stored {
  const last = bytes.length - 7
  const top = bytes[last] as number
  const window = (top & 0xf) * 2 ** 48 + unsigned(bytes, last + 1, 6)
  return window < 1 ? NOTHING : { ends: 0, tag, numbers: [...numbers, window, top >> 4] }
}

function fields(bytes: Uint8Array, widths: readonly number[], from = 0): number[] {
  const numbers: number[] = []
  let at = from
  for (const width of widths) {
    numbers.push(unsigned(bytes, at, width))
    at += width
  }
  return numbers
}

/** A whole number below 2^53, most significant byte first; a kind in its top three bits is not read. */
export function unsigned(bytes: Uint8Array, from: number, width: number): number {
  let number = width === 7 ? (bytes[from] as number) & 0x1f : (bytes[from] as number)
  for (let at = from + 1; at < from + width; at += 1) number = number * 256 + (bytes[at] as number)
  return number
}

function readLog(bytes: Uint8Array): Stored {
  const rest = bytes.length - HEAD
  if (rest < 0 || rest % ENTRY !== 0) return NOTHING
  const head = (place: number): number => unsigned(bytes, 1 + 7 * place, 7)
  const [ends, window, hold, base, at, sum] = [head(0), head(1), head(2), head(3), head(4), head(5)]
  const skip = unsigned(bytes, 43, 4)
  if (skip > rest / ENTRY || window < 1) return NOTHING
  const numbers = [window, hold]
  let before = base
  const add = (instant: Micros, through: number): void => {
    numbers.push(instant, (through - before + TURN) % TURN)
    before = through
  }
  for (let from = HEAD + skip * ENTRY; from < bytes.length; from += ENTRY) add(unsigned(bytes, from, 7), unsigned(bytes, from + 7, 7))
  add(at, sum)
  return { ends, tag: 'sl', numbers }
}

/** A bucket as earlier versions wrote it: MessagePack integers, the first being the format. */
function oldBucket(bytes: Uint8Array): Stored | undefined {
  const numbers = integers(bytes)
  if (numbers === undefined || numbers.length !== 8) return undefined
  const [, zero = 0, rest = 0, age = 0, ...others] = numbers
  return bucket([zero, rest, zero + age, ...others])
}

/** Bytes that follow the type byte of an unsigned (cc to cf) or a signed (d0 to d3) integer. */
const WIDTHS = [1, 2, 4, 8]

function integers(bytes: Uint8Array): number[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const numbers: number[] = []
  for (let at = 0; at < bytes.length;) {
    const type = view.getUint8(at)
    at += 1
    if (type < 0x80 || type >= 0xe0) {
      numbers.push(type < 0x80 ? type : type - 0x100)
      continue
    }
    const signed = type >= 0xd0
    const width = WIDTHS[type - (signed ? 0xd0 : 0xcc)]
    if (type < 0xcc || width === undefined || at + width > bytes.length) return undefined
    numbers.push(read(view, at, width, signed))
    at += width
  }
  return numbers
}

function read(view: DataView, at: number, width: number, signed: boolean): number {
  if (width === 8) return Number(signed ? view.getBigInt64(at) : view.getBigUint64(at))
  if (width === 4) return signed ? view.getInt32(at) : view.getUint32(at)
  if (width === 2) return signed ? view.getInt16(at) : view.getUint16(at)
  return signed ? view.getInt8(at) : view.getUint8(at)
}
