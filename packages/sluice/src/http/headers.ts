import type { Decision } from '../decision/decision.ts'
import { jitteredSeconds } from '../decision/jitter.ts'
import { DECISION, requireForm, TEXT } from '../errors/options.ts'
import { headerChoice, type HeaderOptions } from '../policy/header-choice.ts'
import { asRefused, refusalFields } from './refusal.ts'
import { type QuotaField, quotaFields, type Standing } from './quota-fields.ts'

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** The headers of an answer under way, as node and the frameworks on it offer them. */
export interface HeaderSink {
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
}

/**
 * Writes the fields that tell a client how it stands (draft-ietf-httpapi-ratelimit-headers, RFC 6585) beside those that are there.
 * Nothing is told of what is not known: an undecided answer carries no quota.
 * @param identity what tells clients apart, for the spread of Retry-After; it is not sent
 */
export type HeaderWriter = (sink: HeaderSink, decision: Decision, identity: string) => void

/** Milliseconds after which a client of a limiter that cannot answer may come again. */
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
    // A cache that keeps a denial would deny everybody (RFC 6585, 4), whatever the application says of its own answers.
    sink.setHeader('Cache-Control', 'no-store')
    for (const [name, value] of refusalFields(decision, choice.refusal)) sink.setHeader(name, value)
  }
}

const DEFAULT: HeaderOptions = {}
/** By the object that chose: a service asks with the one of its policy each time. */
const writers = new WeakMap<HeaderOptions, HeaderWriter>()

/** The same as a list, for an answer that has no headers yet. @throws LimiterError INVALID_OPTIONS */
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
 * Beside a limiter further out: lists of one form grow, and the fields with one value describe the limit that is closest to
 * exhaustion, or the one that denied. A list in another form, which would void the whole field, gives way to a denial only.
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

/** Milliseconds after which another try makes sense; none where waiting cannot help. */
function waitOf(decision: Decision): number | undefined {
  if (decision.outcome === 'undecided') return UNDECIDED_WAIT_MS
  const { retryAfterMs } = decision
  return Number.isFinite(retryAfterMs) ? retryAfterMs : undefined
}
