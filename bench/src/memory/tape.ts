import { xorshift32 } from '../random-order.ts'

/** Requests in a fixed order, each with the answer of an exact limiter. */
export interface Tape {
  /** The index of each request's key. */
  readonly keys: Uint32Array
  readonly costs: Uint8Array
  /** 1 for each request that an exact limiter allows. */
  readonly allowed: Uint8Array
}

/** The requests of a tape. */
export const TAPE_REQUESTS = 16_384
const SEED = 0x5eed_0012

/**
 * The tape of a mixed application. A fifth of the keys makes four fifths of the requests, and with `costs` a tenth of the requests costs
 * 5, otherwise each costs 1. The exact limiter has `limit` tokens for each key and no refill; it takes all tokens of a request or none.
 */
export function tapeOf(count: number, limit: number, costly: boolean = false): Tape {
  const draw = xorshift32(SEED)
  const below = (bound: number): number => draw() % bound
  const hot = Math.max(1, Math.floor(count / 5))
  const keys = new Uint32Array(TAPE_REQUESTS)
  const costs = new Uint8Array(TAPE_REQUESTS)
  const allowed = new Uint8Array(TAPE_REQUESTS)
  const left = new Int32Array(count).fill(limit)
  for (let index = 0; index < TAPE_REQUESTS; index += 1) {
    const key = below(5) < 4 ? below(hot) : hot + below(Math.max(1, count - hot))
    const cost = costly && below(10) === 0 ? 5 : 1
    keys[index] = key
    costs[index] = cost
    if ((left[key] as number) < cost) continue
    left[key] = (left[key] as number) - cost
    allowed[index] = 1
  }
  return { keys, costs, allowed }
}

/** The tokens that an exact limiter grants each key. */
export function grantedBy({ keys, costs, allowed }: Tape, count: number): Int32Array {
  const granted = new Int32Array(count)
  keys.forEach((key, call) => (granted[key] = (granted[key] as number) + (allowed[call] === 1 ? (costs[call] as number) : 0)))
  return granted
}

/** Compares the tokens of each key. Which request of a key got them does not matter. */
export function comparedTokens(granted: Int32Array, exact: Int32Array): { permitted: number; over: number; under: number } {
  let [permitted, over, under] = [0, 0, 0]
  for (const [key, expected] of exact.entries()) {
    const difference = (granted[key] as number) - expected
    permitted += expected
    over += Math.max(0, difference)
    under += Math.max(0, -difference)
  }
  return { permitted, over, under }
}
