import type { Decision } from '../decision/decision.ts'
import { jitteredSeconds, wholeSeconds } from '../decision/jitter.ts'
import { DECISION, requireForm, TEXT } from '../errors/options.ts'
import { headerChoice, type HeaderOptions, type RefusalHeaders } from '../policy/model/header-choice.ts'
import { type QuotaField, quotaFields, type Standing } from './quota-fields.ts'

/** Header fields, in the order in which they are written. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** The methods of a node response that has not begun. */
export interface HeaderSink {
  /** The field's present value; undefined if the field is not set. */
  getHeader(name: string): number | string | readonly string[] | undefined
  /** Sets the field, in place of an earlier value. */
  setHeader(name: string, value: string): unknown
  /** Removes the field. Without this method, an earlier limit's reset stays next to a limit that has none. */
  removeHeader?(name: string): unknown
}

/**
 * Writes the fields that report the limits to a client (draft-ietf-httpapi-ratelimit-headers, RFC 6585). If the store could not decide, no
 * limit is reported.
 * @param identity distinguishes clients, to spread Retry-After. Undefined: Retry-After is the exact wait
 */
export type HeaderWriter = (sink: HeaderSink, decision: Decision, identity: string | undefined) => void

const UNDECIDED_WAIT_MS = 1_000

/** @throws LimiterError INVALID_OPTIONS for an unknown option or value */
export function headerWriter(options?: HeaderOptions): HeaderWriter {
  const choice = headerChoice(options)
  const { refusal } = choice
  const { fields, standingOf } = quotaFields(choice)
  return (sink, decided, identity) => {
    const decision = asRefused(decided, refusal)
    const standing = fields.length === 0 ? undefined : standingOf(decision)
    if (standing !== undefined) {
      if (isFresh(sink, fields)) for (const field of fields) setField(sink, field.name, field.valueOf(standing))
      else mergeFields(sink, fields, standing, !decision.allowed)
    }
    if (decision.allowed) return
    const wait = choice.retryAfter ? waitOf(decision) : undefined
    if (wait !== undefined)
      sink.setHeader('Retry-After', String(identity === undefined ? wholeSeconds(wait) : jitteredSeconds(wait, identity)))
    // A cache that stored a denial would deny everybody (RFC 6585, 4). So this replaces the application's own Cache-Control.
    sink.setHeader('Cache-Control', 'no-store')
    const reason = decision.reason === undefined ? undefined : refusal?.reasons[decision.reason]
    if (refusal !== undefined && reason !== undefined) sink.setHeader(refusal.field, reason)
  }
}

const DEFAULT: HeaderOptions = {}
/** By options object, because a service passes the same object each time. */
const writers = new WeakMap<HeaderOptions, HeaderWriter>()

export function writerFor(options: HeaderOptions = DEFAULT): HeaderWriter {
  let writer = writers.get(options)
  if (writer === undefined) writers.set(options, (writer = headerWriter(options)))
  return writer
}

/**
 * The fields of a `HeaderWriter` as a list.
 * @throws LimiterError INVALID_OPTIONS
 */
export function headersOf(decision: Decision, identity: string, options: HeaderOptions = DEFAULT): HeaderList {
  requireForm('headersOf', 'decision', decision, DECISION)
  requireForm('headersOf', 'identity', identity, TEXT)
  const list: [string, string][] = []
  const sink: HeaderSink = { getHeader: () => undefined, setHeader: (name, value) => list.push([name, value]) }
  writerFor(options)(sink, decision, identity)
  return list
}

function isFresh(sink: HeaderSink, fields: readonly QuotaField[]): boolean {
  for (const { name } of fields) if (sink.getHeader(name) !== undefined) return false
  return true
}

/**
 * Appends items to lists of the same form. Lists of another form stay unless this limiter denies. A field with one value describes the
 * limit that denied, or has the fewest tokens left.
 */
function mergeFields(sink: HeaderSink, fields: readonly QuotaField[], standing: Standing, denied: boolean): void {
  const nearer = denied || fields.every((field) => isNearer(standing, field, sink.getHeader(field.name)))
  // Slots have no reset. That of another limit next to their values would say when a slot is free.
  const ofOther = fields.filter(({ resetOf }) => !nearer && resetOf?.some((name) => sink.getHeader(name) !== undefined) === true)
  for (const field of fields) {
    const present = sink.getHeader(field.name)
    const value = field.valueOf(standing)
    if (present === undefined) {
      if (!ofOther.includes(field)) setField(sink, field.name, value)
    } else if (field.begins?.test(String(present)) === true) sink.setHeader(field.name, `${String(present)}, ${value}`)
    else if (field.begins === undefined ? nearer : denied) {
      if (value === undefined) sink.removeHeader?.(field.name)
      else sink.setHeader(field.name, value)
    }
  }
}

function setField(sink: HeaderSink, name: string, value: string | undefined): void {
  if (value !== undefined) sink.setHeader(name, value)
}

function isNearer({ left }: Standing, { leftIn }: QuotaField, present: ReturnType<HeaderSink['getHeader']>): boolean {
  return leftIn === undefined || present === undefined || Number(left) <= leftIn(String(present))
}

/** Undefined if waiting does not help. */
function waitOf(decision: Decision): number | undefined {
  if (decision.outcome === 'undecided') return UNDECIDED_WAIT_MS
  const { retryAfterMs } = decision
  return Number.isFinite(retryAfterMs) ? retryAfterMs : undefined
}

/** A policy may set the `remaining` that refused clients see. */
function asRefused(decision: Decision, options: RefusalHeaders | undefined): Decision {
  if (options === undefined || decision.allowed) return decision
  const { violated = [] } = decision as Decision & { readonly violated?: readonly string[] }
  const limits = decision.limits.map((view) =>
    view.name === decision.limitName || violated.includes(view.name) ? { ...view, remaining: options.remaining } : view,
  )
  return { ...decision, limits }
}
