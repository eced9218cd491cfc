import { holderOf } from '../../algorithms/concurrency.ts'
import { partName } from '../../algorithms/hold-record.ts'
import type { HeldPart, HoldReport, HoldStatus } from '../../algorithms/settle-hold.ts'
import type { Micros } from '../../time/micros.ts'
import { InvalidReply } from '../batch/replay.ts'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Change, ChangeResult, HoldChange } from '../store.ts'
import { descriptorOf } from './encode.ts'
import { NEWER } from './failures.ts'
import { calledOf, type Named, namedOf } from './layout.ts'
import { unsigned } from './value-bytes.ts'

/** A change by which a holder gives back slots. */
export type Release = Extract<Change, { readonly kind: 'release' }>

/** The states on which holds.lua makes changes of holds, in the order of its keys. */
export function heldStates(changes: readonly HoldChange[]): readonly Named[] {
  return changes.flatMap(({ id, calls }) => [namedOf(id), ...calls.map(calledOf)])
}

/** With these lengths holds.lua settles a hold: with what was used, or as it stands. */
const [USED, STANDS] = [-1, -2]

/** The id of a hold that has no slots. */
const NOBODY: readonly number[] = [0, 0]

/** Encodes changes of holds as holds.lua documents. */
export function holdsArgument(changes: readonly HoldChange[], now: Micros): string {
  const numbers: number[] = [now, changes.length]
  const descriptors: number[] = []
  const from = 1 + changes.reduce((sum, { calls }) => sum + 4 + 3 * calls.length, numbers.length)
  const indexes = new Map<AnyLimit, Map<number, number>>()
  const indexOf = (limit: AnyLimit, phase: number): number => {
    const known = indexes.get(limit) ?? new Map<number, number>()
    const index = known.get(phase) ?? from + descriptors.length
    if (!known.has(phase)) descriptors.push(...descriptorOf(limit, 1, phase))
    indexes.set(limit, known.set(phase, index))
    return index
  }
  for (const change of changes) {
    const holder = change.calls.some(({ limit }) => limit.algorithm.holding !== undefined) ? holderOf(change.holder) : NOBODY
    numbers.push(change.kind === 'extend' ? change.micros : change.stands === true ? STANDS : USED, change.calls.length, ...holder)
    for (const { id, limit, cost, phase } of change.calls) numbers.push(partName(id.scope.text), indexOf(limit, phase), cost)
  }
  return `[${[...numbers, ...descriptors].join(',')}]`
}

/** Encodes releases as release.lua documents. */
export function releasesArgument(releases: readonly Release[], now: Micros): string {
  return `[${[now, ...releases.flatMap(({ holder }) => holderOf(holder))].join(',')}]`
}

/** How a hold stands, by the numbers that holds.lua returns. The last two: it was settled before; a newer version wrote a state. */
const STATUSES: readonly HoldStatus[] = ['unknown', 'open', 'settled', 'expired']
const [BEFORE, NOT_CHANGED] = [4, 5]
const NUMBER = 7

/**
 * Reads the reply of holds.lua.
 * @throws InvalidReply
 */
export function holdResults(changes: readonly HoldChange[], reply: unknown): readonly ChangeResult[] {
  const count = changes.reduce((sum, { calls }) => sum + 2 + 3 * calls.length, 0)
  if (!(reply instanceof Uint8Array) || reply.length !== NUMBER * count) throw new InvalidReply()
  let at = 0
  const next = (): number => unsigned(reply, NUMBER * at++, NUMBER)
  return changes.map(({ calls }): ChangeResult => {
    const [which, expires] = [next(), next()]
    const parts = calls.map((): HeldPart | undefined => {
      const [held, charged, overage] = [next(), next(), next()]
      return held === 0 ? undefined : { held, charged, overage }
    })
    if (which === NOT_CHANGED) return { failure: NEWER }
    const status = which === BEFORE ? 'settled' : STATUSES[which]
    if (status === undefined) throw new InvalidReply()
    const report: HoldReport = { status, expires, parts }
    return { hold: which === BEFORE ? { ...report, repeated: true } : report }
  })
}
