import { leasedBucketKernel } from '../../algorithms/leased-bucket.ts'
import type { BatchEntry, BatchState } from '../batch/batch.ts'
import { type Found, type FoundState, InvalidReply } from '../batch/replay.ts'
import type { Failed } from '../store.ts'
import { NEWER } from './failures.ts'
import { FULL } from './packed/new-keys.ts'
import { unsigned } from './value-bytes.ts'
import { NEWER_ENDS, readValue } from './value.ts'

/** What a program returned, decoded (lua/storage/reply.lua). */
export interface Reply extends Pick<Found, 'now' | 'next'> {
  /** Of each state before the call; null for none. */
  readonly values: readonly (Uint8Array | null)[]
  /**
   * Whether the program on the server and the replay in TypeScript let equally many groups pass. Also false if numbers of the reply are
   * left over.
   */
  isPassed(entries: readonly Pick<BatchEntry, 'passed'>[]): boolean
}

/** How many bytes each number and the time have. */
const NUMBER = 7

/** @throws InvalidReply */
export function readReply(reply: unknown, states: number, entries: number): Reply {
  if (!(reply instanceof Uint8Array)) throw new InvalidReply()
  const width = reply[0] ?? 0
  const counts = 1 + width * states
  const time = reply.length - NUMBER
  let end = counts + width * entries
  if ((width !== 1 && width !== 4) || end > time) throw new InvalidReply()
  const values: (Uint8Array | null)[] = []
  for (let state = 0; state < states; state += 1) {
    const from = end
    end += unsigned(reply, 1 + width * state, width)
    values.push(from === end ? null : reply.subarray(from, end))
  }
  if (end > time) throw new InvalidReply()
  return {
    now: unsigned(reply, time, NUMBER),
    values,
    next() {
      end += NUMBER
      if (end > time) throw new InvalidReply()
      return unsigned(reply, end - NUMBER, NUMBER)
    },
    isPassed: (all) => end === time && all.every(({ passed }, entry) => unsigned(reply, counts + width * entry, width) === passed),
  }
}

/** An integer of a reply. It is a text if the ioredis client has the option `stringNumbers`. */
export function integerOf(value: unknown): unknown {
  return typeof value === 'string' ? Number(value) : value
}

/** How many numbers a bucket without leases has. */
const BUCKET = 7

/** For a group that would create a state beyond `maxNewKeys`. */
const REFUSED: Failed = { failure: FULL }

export interface RedisState extends FoundState {
  /** Whether the server had no value for the state. */
  readonly missing: boolean
}

/**
 * @param value for a sliding window log, only until when its key is blocked
 * @param closed whether the state may not be created
 * @throws InvalidReply
 */
export function foundState({ isLog, first: { limit } }: BatchState, value: Uint8Array | null, closed: boolean): RedisState {
  const { algorithm, plan } = limit
  const missing = value === null
  const { tag, numbers, ends: until } = isLog && !missing ? { ends: unsigned(value, 0, NUMBER) } : readValue(value)
  const refusal = missing && closed ? REFUSED : undefined
  const failure = until === NEWER_ENDS ? NEWER : undefined
  // A value of another algorithm is ignored, including its block.
  const isOther = numbers !== undefined && (tag === undefined ? algorithm.holding === undefined : tag !== algorithm.tag)
  const kernel = tag === 'tb' && !isOther && (numbers?.length ?? 0) > BUCKET ? leasedBucketKernel : undefined
  const state: unknown = numbers === undefined || isOther ? undefined : (kernel ?? algorithm).codec.decodeState(numbers, plan)
  return { state, until: isOther ? 0 : until, kernel, failure, refusal, missing, passed: false, step: undefined }
}
