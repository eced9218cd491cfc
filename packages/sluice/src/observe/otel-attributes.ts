import type { Outcome } from '../decision/decision.ts'
import type { DecisionEvent } from './events.ts'

/** Attributes of OpenTelemetry. */
export type OtelAttributes = Record<string, string | number | boolean>

export const PREFIX = 'sluice.rate_limiting'

export interface DecisionAttributes {
  readonly request: OtelAttributes
  readonly decision: OtelAttributes
}

/**
 * `request` is for counts of requests. Its rule is the one that refused or, if the request was allowed, a shadow rule that would have
 * refused. `decision` is for durations. Both have few different values.
 */
export function attributesOf({ limiter, store, decision, results }: DecisionEvent): DecisionAttributes {
  const { outcome, limitName, degraded } = decision
  const refusing = outcome === 'allowed' ? results.find(({ result }) => result === 'shadow_denied')?.rule : limitName
  const result: Outcome | 'shadow_denied' = outcome === 'allowed' && refusing !== undefined ? 'shadow_denied' : outcome
  const request: OtelAttributes = { [`${PREFIX}.policy`]: limiter, [`${PREFIX}.result`]: result }
  const timed: OtelAttributes = { [`${PREFIX}.store`]: store, [`${PREFIX}.result`]: result }
  if (refusing !== undefined) request[`${PREFIX}.rule`] = refusing
  if (degraded !== undefined) request['error.type'] = timed['error.type'] = degraded.kind
  return { request, decision: timed }
}
