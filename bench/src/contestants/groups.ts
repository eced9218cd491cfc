import { type CallGroup, tokenBucket } from 'sluice'
import type { Quota } from './contestant.ts'

const SCOPE = { text: 'bench:default:tb:' }
/** A cost of 1 in micro-tokens, the unit of stores. */
const ONE = 1_000_000

/** Makes the group of one request to a token bucket, as a limiter passes it to its store. */
export function groupsUnder({ tokens, per, burst }: Quota, cost: number = 1): (key: string) => CallGroup {
  const limit = tokenBucket({ rate: { tokens, per }, burst })
  return (key) => ({ calls: [{ id: { scope: SCOPE, key }, limit, cost: cost * ONE, phase: 0 }] })
}
