import type { Decision } from '../decision/decision.ts'
import { jitteredSeconds } from '../decision/jitter.ts'
import { DECISION, requireForm, TEXT } from '../errors/options.ts'
import { headerChoice, type HeaderOptions, type RefusalHeaders } from '../policy/model/header-choice.ts'
import { type QuotaField, quotaFields, type Standing } from './quota-fields.ts'

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** The headers of a response in progress, as node and frameworks on it offer them. */
export interface HeaderSink {
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
}

/**
 * Writes the fields that report the limits to a client (draft-ietf-httpapi-ratelimit-headers, RFC 6585), in addition to existing fields. It
 * reports nothing that is not known: an undecided answer carries no quota.
 * @param identity distinguishes clients, to spread Retry-After; it is not sent
 */
export type HeaderWriter = (sink: HeaderSink, decision: Decision, identity: string) => void

/** Milliseconds after which a client may retry if the limiter cannot answer. */
const UNDECIDED_WAIT_MS = 1_000

/** @throws LimiterError INVALID_OPTIONS for an unknown option or value */
export function headerWriter(options?: HeaderOptions): HeaderWriter {
  const choice = headerChoice(options)
  const { fields, standingOf } = quotaFields(choice)
  return (sink, decided, identity) => {
    const decision = asRefused(decided, choice.refusal)
    const standing = fields.length === 0 ? undefined : standingOf(decision)
    if (standing !== undefined) {
      if (isFresh(sink, fields)) for (const field of fields) sink.setHeader(field.name, field.valueOf(standing))
      else mergeFields(sink, fields, standing, !decision.allowed)
    }
    if (decision.allowed) return
    const wait = choice.retryAfter ? waitOf(decision) : undefined
    if (wait !== undefined) sink.setHeader('Retry-After', String(jitteredSeconds(wait, identity)))
    // A cache that stores a denial would deny everybody (RFC 6585, 4), whatever the application sets for its own answers.
    sink.setHeader('Cache-Control', 'no-store')
    for (const [name, value] of refusalFields(decision, choice.refusal)) sink.setHeader(name, value)
  }
}

const DEFAULT: HeaderOptions = {}
/** Writers by their options object: a service passes its policy's object on each call. */
const writers = new WeakMap<HeaderOptions, HeaderWriter>()

/** The same fields as a list, for an answer that has no headers yet. @throws LimiterError INVALID_OPTIONS */
export function headersOf(decision: Decision, identity: string, options: HeaderOptions = DEFAULT): HeaderList {
  requireForm('headersOf', 'decision', decision, DECISION)
  requireForm('headersOf', 'identity', identity, TEXT)
  const list: [string, string][] = []
  const write = writers.get(options) ?? headerWriter(options)
  writers.set(options, write)
  write({ getHeader: () => undefined, setHeader: (name, value) => list.push([name, value]) }, decision, identity)
  return list
}

function isFresh(sink: HeaderSink, fields: readonly QuotaField[]): boolean {
  for (const { name } of fields) if (sink.getHeader(name) !== undefined) return false
  return true
}

/**
 * Merges fields with those of an outer limiter. Lists of one form get more items. Fields with one value describe the limit that is closest
 * to exhaustion, or the one that denied. Mixed forms would void a list, so a list in another form is replaced only on a denial.
 */
function mergeFields(sink: HeaderSink, fields: readonly QuotaField[], standing: Standing, denied: boolean): void {
  const nearer = denied || fields.every((field) => isNearer(standing, field, sink.getHeader(field.name)))
  for (const field of fields) {
    const present = sink.getHeader(field.name)
    if (present === undefined) sink.setHeader(field.name, field.valueOf(standing))
    else if (field.begins?.test(String(present)) === true) sink.setHeader(field.name, `${String(present)}, ${field.valueOf(standing)}`)
    else if (field.begins === undefined ? nearer : denied) sink.setHeader(field.name, field.valueOf(standing))
  }
}

function isNearer({ left }: Standing, { leftIn }: QuotaField, present: ReturnType<HeaderSink['getHeader']>): boolean {
  return leftIn === undefined || present === undefined || Number(left) <= leftIn(String(present))
}

/** Milliseconds after which a retry makes sense; undefined if waiting does not help. */
function waitOf(decision: Decision): number | undefined {
  if (decision.outcome === 'undecided') return UNDECIDED_WAIT_MS
  const { retryAfterMs } = decision
  return Number.isFinite(retryAfterMs) ? retryAfterMs : undefined
}

/** The decision as these dialects report it: limits that refused have nothing left. */
export function asRefused(decision: Decision, options: RefusalHeaders | undefined): Decision {
  if (options === undefined || decision.allowed) return decision
  const { violated = [] } = decision as Decision & { readonly violated?: readonly string[] }
  const limits = decision.limits.map((view) =>
    view.name === decision.limitName || violated.includes(view.name) ? { ...view, remaining: options.remaining } : view,
  )
  return { ...decision, limits }
}

export function refusalFields(decision: Decision, options: RefusalHeaders | undefined): [string, string][] {
  const reason = options === undefined || decision.reason === undefined ? undefined : options.reasons[decision.reason]
  return options === undefined || reason === undefined ? [] : [[options.field, reason]]
}
