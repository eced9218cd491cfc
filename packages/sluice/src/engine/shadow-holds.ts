import { LimiterError } from '../errors/limiter-error.ts'
import type { HoldEnd } from '../limiter/held-change.ts'
import { chargeOnce, type NewHold, recordOf } from '../limiter/held-group.ts'
import { decideGroups, type Deciders, type Resolved } from '../limiter/on-failure.ts'
import type { CallOptions, HoldChange } from '../stores/store.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import { policyOf, RULE_SET, type RuleCharge } from './rule-charge.ts'

export interface ShadowHolds {
  /** Charges each shadow rule once for an id. If the hold of this id has another cost or has ended, nothing is charged. */
  reserve(shadows: readonly RuleCharge[], hold: Pick<NewHold, 'id' | 'micros'>, options: CallOptions): Promise<readonly Resolved[]>
  /**
   * Never rejects: if the store fails, tokens stay charged, and slots are free when the hold ends.
   * @param shadows to settle, the cost of each call is what was used
   */
  change(shadows: readonly RuleCharge[], id: string, end: HoldEnd, options: CallOptions): Promise<void>
}

/** Each shadow rule has its own hold, so one that would refuse does not keep the others from counting. */
export function createShadowHolds(deciders: Deciders): ShadowHolds {
  const { main, local } = deciders
  return {
    reserve: (shadows, hold, options) =>
      Promise.all(
        shadows.map(async (shadow): Promise<Resolved> => {
          const { call } = shadow
          const policy = policyOf([shadow])
          try {
            const own = { ...hold, limiter: recordName(shadow), final: false }
            return (await chargeOnce('engine', deciders, [call], own, policy, options)).resolved
          } catch (error) {
            if (!(error instanceof LimiterError)) throw error
            const [resolved] = await decideGroups(deciders, [{ calls: [call] }], () => policy, { ...options, charge: false })
            return resolved as Resolved
          }
        }),
      ),
    async change(shadows, id, end, options) {
      const changes = shadows.map((shadow): HoldChange => {
        const { call } = shadow
        const hold = { id: recordOf(recordName(shadow), call.id.key, id), calls: [call], holder: id }
        if (typeof end === 'number') return { ...hold, kind: 'extend', micros: Math.ceil(end * MICROS_PER_MS) }
        return { ...hold, kind: 'settle', ...(end === 'stands' ? { stands: true } : {}) }
      })
      await Promise.allSettled([main.change(changes, options), local?.change(changes, {})])
    },
  }
}

function recordName({ rule }: RuleCharge): string {
  return `${RULE_SET} ${rule.name}`
}
