import type { LimitView } from 'sluice'
import type { EngineDecision } from 'sluice/policy'

/** Rule names as JSON texts. */
const names = new Map<string, string>()
const MAX_NAMES = 10_000

type Outcome = 'outcome' | 'allowed' | 'limitName' | 'reason' | 'detail' | 'retryAfterMs'
type OfStore = 'limits' | 'at' | 'atMicros' | 'source' | 'hold'
type OfRules = 'degraded' | 'rules' | 'shadow' | 'violated' | 'identity' | 'probabilistic' | 'exempt'
type OfLimit = 'name' | 'limit' | 'remaining' | 'replenishAfterMs' | 'resetAfterMs' | 'windowMs' | 'unit'
/** `never` unless `Fields` lists all fields of `T`, so that this file does not compile until a new field is written below. */
type Listed<T, Fields extends string> = Exclude<keyof T, Fields> extends never ? T : never
type View = Listed<LimitView, OfLimit>

/** As `JSON.stringify`, but in a third of the time: for a list of decisions this is nearly all of the work. */
export function decisionJson(decision: Listed<EngineDecision, Outcome | OfStore | OfRules>): string {
  const { outcome, allowed, limitName, reason, detail, retryAfterMs, limits } = decision
  const { at, atMicros, source, degraded, hold, rules, shadow, violated } = decision
  let json = `{"outcome":"${outcome}","allowed":${allowed}`
  if (limitName !== undefined) json += `,"limitName":${quoted(limitName)}`
  if (reason !== undefined) json += `,"reason":"${reason}"`
  if (detail !== undefined) json += `,"detail":${JSON.stringify(detail)}`
  if (retryAfterMs !== undefined) json += `,"retryAfterMs":${retryAfterMs}`
  json += ',"limits":['
  for (let index = 0; index < limits.length; index += 1) json += (index === 0 ? '' : ',') + viewJson(limits[index] as View)
  json += `],"at":${at},"atMicros":${atMicros},"source":"${source}"`
  if (degraded !== undefined) json += `,"degraded":${JSON.stringify(degraded)}`
  if (hold !== undefined) json += `,"hold":${JSON.stringify(hold)}`
  json += ',"rules":['
  for (let index = 0; index < rules.length; index += 1) {
    const { name, mode } = rules[index] as EngineDecision['rules'][number]
    json += `${index === 0 ? '' : ','}{"name":${quoted(name)},"mode":"${mode}"}`
  }
  const shadows = shadow.length === 0 ? '[]' : JSON.stringify(shadow)
  json += `],"shadow":${shadows},"violated":[${violated.map(quoted).join(',')}]`
  if (decision.probabilistic === true) json += ',"probabilistic":true'
  return decision.exempt === undefined ? `${json}}` : `${json},"exempt":${JSON.stringify(decision.exempt)}}`
}

function viewJson({ name, limit, remaining, replenishAfterMs, resetAfterMs, windowMs, unit }: View): string {
  const counted = unit === undefined ? '' : `,"unit":"${unit}"`
  return `{"name":${quoted(name)},"limit":${limit},"remaining":${remaining},"replenishAfterMs":${replenishAfterMs},"resetAfterMs":${resetAfterMs},"windowMs":${windowMs}${counted}}`
}

function quoted(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  if (names.size >= MAX_NAMES) names.clear()
  const made = JSON.stringify(name)
  names.set(name, made)
  return made
}
