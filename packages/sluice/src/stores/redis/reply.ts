import { leasedBucketKernel } from '../../algorithms/leased-bucket.ts'
import type { BatchState, Part } from '../batch/batch.ts'
import { type Found, type FoundState, InvalidReply } from '../batch/replay.ts'
import type { Failed } from '../store.ts'
import { NEWER } from './failures.ts'
import { FULL } from './packed/new-keys.ts'
import { NEWER_ENDS, readValue, unsigned } from './value.ts'

/** A program's reply. Reading a missing or invalid number throws `InvalidReply`. */
export interface Reply extends Found {
  readonly states: readonly RedisState[]
  /** Whether the program's counts of passed groups equal those of each part, and the reply has no further numbers. */
  isPassed(parts: readonly Pick<Part, 'times' | 'passed'>[]): boolean
}

export interface RedisState extends FoundState {
  /** Whether the store had no value for it. */
  readonly missing: boolean
}

const NONE: ReadonlySet<BatchState> = new Set()

/**
 * @param states in the order of the program's keys
 * @param closed those that may not be created
 * @throws InvalidReply
 */
export function replyOf(reply: unknown, states: readonly BatchState[], closed: ReadonlySet<BatchState> = NONE): Reply {
  const found = (state: BatchState, value: unknown): RedisState => foundState(state, value, closed.has(state))
  if (reply instanceof Uint8Array) return textReply(reply, states, found)
  if (Array.isArray(reply)) return listReply(reply, states, found)
  throw new InvalidReply()
}

type ReadState = (state: BatchState, value: unknown) => RedisState

/** Bytes of a time. */
const TIME = 7

/** A reply as text, as buckets.lua writes it. */
function textReply(bytes: Uint8Array, states: readonly BatchState[], found: ReadState): Reply {
  const width = bytes[0]
  if (width !== 1 && width !== 4) throw new InvalidReply()
  const values = 1 + 2 * width * states.length
  if (bytes.length < values + TIME) throw new InvalidReply()
  let end = values
  const read = states.map((state, index) => {
    const from = end
    end += unsigned(bytes, 1 + 2 * width * index, width)
    return found(state, from === end ? null : bytes.subarray(from, end))
  })
  if (bytes.length !== end + TIME) throw new InvalidReply()
  return {
    now: unsigned(bytes, end, TIME),
    states: read,
    next() {
      throw new InvalidReply()
    },
    isPassed: (parts) => parts.every(({ passed }, index) => unsigned(bytes, 1 + width * (2 * index + 1), width) === passed),
  }
}

const MAX_ROOM = 2 ** 52

/** A reply as a list, as consume.lua writes it. */
function listReply(list: readonly unknown[], states: readonly BatchState[], found: ReadState): Reply {
  let at = states.length
  const next = (): number => {
    at += 1
    return whole(list[at - 1])
  }
  return {
    now: next(),
    states: states.map((state, index) => found(state, list[index])),
    next,
    isPassed(parts) {
      let [digits, room] = [0, 1]
      for (const { times, passed } of parts) {
        const base = times + 1
        if (room * base > MAX_ROOM) {
          if (next() !== digits) return false
          digits = 0
          room = 1
        }
        digits = digits * base + passed
        room *= base
      }
      return next() === digits && list.length === at
    },
  }
}

/** Clients return integers as numbers or, if configured so, as text. */
function whole(value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number
  throw new InvalidReply()
}

/** Numbers of a bucket without leases. */
const BUCKET = 7

/** The verdict of a group that would create a state that may not be created. */
const REFUSED: Failed = { failure: FULL }

/** A state as the program found it: its value or, for a log, only the end of its block. */
function foundState({ isLog, first: { limit } }: BatchState, value: unknown, closed: boolean): RedisState {
  const { algorithm, plan } = limit
  const missing = value === null
  const refusal = missing && closed ? REFUSED : undefined
  if (!missing && !isLog && !(value instanceof Uint8Array)) throw new InvalidReply()
  const { tag, numbers, ends: until } = isLog ? { ends: missing ? 0 : whole(value) } : readValue(value as Uint8Array | null)
  const state = { state: undefined, until, missing, refusal, failure: until === NEWER_ENDS ? NEWER : undefined }
  if (numbers === undefined) return state
  // A value of another algorithm is ignored, including its block.
  if (tag !== algorithm.tag) return { ...state, until: 0 }
  const kernel = tag === 'tb' && numbers.length > BUCKET ? leasedBucketKernel : undefined
  return { ...state, kernel, state: (kernel ?? algorithm).codec.decodeState(numbers, plan) }
}
