import { holderOf } from '../../algorithms/concurrency.ts'
import { partName } from '../../algorithms/hold-record.ts'
import type { HeldPart, HoldStatus } from '../../algorithms/settle-hold.ts'
import type { Micros } from '../../time/micros.ts'
import { InvalidReply } from '../batch/replay.ts'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Call, Change, ChangeResult, HoldChange } from '../store.ts'
import { scopeOfLimit } from '../share-names.ts'
import { descriptorOf } from './encode.ts'
import { NEWER } from './failures.ts'
import { calledOf, type Named, namedOf } from './layout.ts'
import { unsigned } from './value-bytes.ts'

export type Release = Extract<Change, { readonly kind: 'release' }>

/** In the order of the KEYS of holds.lua. */
export function heldStates(changes: readonly HoldChange[]): readonly Named[] {
  const states: Named[] = []
  for (const { id, calls } of changes) {
    states.push(namedOf(id))
    for (const call of calls) states.push(calledOf(call))
  }
  return states
}

/** Sent to holds.lua instead of an extension: settle with what was used, or with what was held. */
const [USED, STANDS] = [-1, -2]

/** Sent as the holder if no limit has slots. */
const NOBODY: readonly [number, number] = [0, 0]

/** Encodes changes as the head of holds.lua documents. */
export function holdsArgument(changes: readonly HoldChange[], now: Micros): string {
  const numbers: number[] = [now, changes.length]
  const descriptors: number[] = []
  const from = 1 + changes.reduce((sum, { calls }) => sum + 4 + 3 * calls.length, numbers.length)
  const indexes = new Map<AnyLimit, Map<number, number>>()
  let [last, lastPhase, lastIndex]: [AnyLimit | undefined, number, number] = [undefined, 0, 0]
  const indexOf = (limit: AnyLimit, phase: number): number => {
    // Most calls have the limit of the call before.
    if (limit === last && phase === lastPhase) return lastIndex
    const known = indexes.get(limit) ?? new Map<number, number>()
    const index = known.get(phase) ?? from + descriptors.length
    if (!known.has(phase)) descriptors.push(...descriptorOf(limit, 1, phase))
    indexes.set(limit, known.set(phase, index))
    ;[last, lastPhase, lastIndex] = [limit, phase, index]
    return index
  }
  for (const change of changes) {
    const [high, low] = change.calls.some(hasSlots) ? holderOf(change.holder) : NOBODY
    numbers.push(change.kind === 'extend' ? change.micros : change.stands === true ? STANDS : USED, change.calls.length, high, low)
    for (const { id, limit, cost, phase } of change.calls) numbers.push(partName(scopeOfLimit(id)), indexOf(limit, phase), cost)
  }
  return `[${numbers.concat(descriptors).join(',')}]`
}

function hasSlots({ limit }: Call): boolean {
  return limit.algorithm.holding !== undefined
}

/** Encodes releases as the head of release.lua documents. */
export function releasesArgument(releases: readonly Release[], now: Micros): string {
  return `[${[now, ...releases.flatMap(({ holder }) => holderOf(holder))].join(',')}]`
}

/**
 * Statuses by the number that holds.lua returns; `settled`: by this call. BEFORE: an earlier call settled the hold. NOT_CHANGED: a newer
 * version of Sluice wrote a state.
 */
const STATUSES: readonly HoldStatus[] = ['unknown', 'open', 'settled', 'expired']
const [BEFORE, NOT_CHANGED] = [4, 5]
const NUMBER = 7

/** @throws InvalidReply for bytes that holds.lua does not return */
export function holdResults(changes: readonly HoldChange[], reply: unknown): readonly ChangeResult[] {
  const count = changes.reduce((sum, { calls }) => sum + 2 + 3 * calls.length, 0)
  if (!(reply instanceof Uint8Array) || reply.length !== NUMBER * count) throw new InvalidReply()
  let at = -NUMBER
  const next = (): number => unsigned(reply, (at += NUMBER), NUMBER)
  const partOf = (): HeldPart | undefined => {
    const [held, charged, overage] = [next(), next(), next()]
    return held === 0 ? undefined : { held, charged, overage }
  }
  return changes.map(({ calls }): ChangeResult => {
    const which = next()
    const expires = next()
    const parts = calls.length === 1 ? [partOf()] : calls.map(partOf)
    if (which === NOT_CHANGED) return { failure: NEWER }
    const status = which === BEFORE ? 'settled' : STATUSES[which]
    if (status === undefined) throw new InvalidReply()
    return { hold: which === BEFORE ? { status, expires, parts, repeated: true } : { status, expires, parts } }
  })
}
