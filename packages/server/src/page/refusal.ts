import type { Decision } from 'sluice'
import { durationText } from './readings.ts'

/** Without any data of the client. */
export interface Refused {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly why: string
}

/** For the operator: names rules, never keys or parts of the request. */
export function reasonOf(decision: Decision): string {
  if (decision.outcome === 'undecided') return `The store did not decide (${decision.degraded.kind}), and the policy refuses without it.`
  if (decision.outcome === 'allowed') return 'The request may pass.'
  const { limitName, reason, limits, retryAfterMs } = decision
  const capacity = limits.find(({ name }) => name === limitName)?.limit
  const wait = retryAfterMs === undefined ? '' : ` The same request would pass ${durationText(retryAfterMs)} later.`
  switch (reason) {
    case 'bad-request':
      return `The target of the request cannot be read, and ${limitName} depends on it. The client got 400.`
    case 'capacity':
      return `The request costs more than ${limitName} can ever hold${capacity === undefined ? '' : ` (${capacity})`}. Waiting does not help.`
    case 'blocked':
      return `The key is blocked under ${limitName}.${wait}`
    case 'overflow':
      return `The store has no room for another key of ${limitName}.${wait}`
    case 'concurrency':
      return `All slots of ${limitName}${capacity === undefined ? '' : ` (${capacity})`} are held. One is free when a request that holds it ends.`
    case 'holds':
      return 'Too many reservations of the key are open. Another is possible when one of them ends.'
    default:
      return `The limit ${limitName} is used up.${wait}`
  }
}
