import { applyGroup } from '../../src/algorithms/group.ts'
import { grantLease, type LeaseArguments, type LeasedState, leasing } from '../../src/algorithms/leased-bucket.ts'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { fromMicroTokens } from '../../src/algorithms/decimal.ts'
import type { TraceEntry } from '../../src/testing/audit.ts'

/** What happens next. The numbers from 0 to 1 choose the holder, the message and the amount. */
export interface Event {
  readonly kind: 'send' | 'deliver' | 'answer' | 'round' | 'spend' | 'consume' | 'penalize'
  readonly jump: number
  readonly who: number
  readonly part: number
  readonly other: number
  readonly duplicate: boolean
  readonly limit: number
}

interface Wired {
  readonly holder: number
  readonly leaseRequest: LeaseArguments
  readonly sentAt: number
}

interface Leased {
  tokens: number
  deadline: number
  sequence: number
}

/**
 * A bucket, its holders, and a network that loses, delays, duplicates and reorders requests and answers. Holders follow the rules for
 * stores with leases. `seen` records what was admitted, by a holder or by the store.
 */
export class Holders {
  state: LeasedState | undefined
  readonly seen: TraceEntry[] = []
  /** Micro-tokens that a lease admitted. */
  leased = 0
  now: number
  readonly #limits: readonly AnyLimit[]
  readonly #leases: readonly Leased[]
  #requests: Wired[] = []
  #answers: (Wired & { granted: number })[] = []

  constructor(limits: readonly AnyLimit[], start: number, holders = 3) {
    this.#limits = limits.map(leasing)
    this.now = start
    this.#leases = Array.from({ length: holders }, () => ({ tokens: 0, deadline: 0, sequence: 0 }))
  }

  /** Micro-tokens that holders may still spend. */
  get leasedTokens(): number {
    return this.#leases.reduce((sum, { tokens, deadline }) => sum + (this.now < deadline ? tokens : 0), 0)
  }

  run(event: Event): void {
    const { jump, who, part, other, duplicate } = event
    this.now += jump
    const limit = this.#limits[event.limit % this.#limits.length] as AnyLimit
    const burst = limit.plan.burst as number
    const at = Math.floor(who * this.#leases.length)
    const lease = this.#leases[at] as Leased
    if (this.now >= lease.deadline) lease.tokens = 0
    if (event.kind === 'round') {
      // All of it at once, as on a good day.
      for (const kind of ['send', 'deliver', 'answer'] as const) this.run({ ...event, kind, jump: Math.floor(jump / 3) })
    } else if (event.kind === 'send') {
      const returned = other < 0.3 ? Math.floor(part * lease.tokens) : 0
      lease.tokens -= returned
      lease.sequence += 1
      const want = other < 0.1 ? 0 : Math.ceil(part * burst * 1.2)
      const cost = Math.max(1, Math.floor(other * want))
      const life = 1 + Math.floor(other * 3_000_000)
      const leaseRequest = { cost, want, holder: at, sequence: lease.sequence, life, kept: lease.tokens, returned }
      this.#requests.push({ holder: at, leaseRequest, sentAt: this.now })
    } else if (event.kind === 'deliver') this.#deliver(limit, part, other, duplicate)
    else if (event.kind === 'answer') this.#answer(part)
    else if (event.kind === 'spend') {
      const cost = part < 0.7 ? Math.ceil(part * lease.tokens) : lease.tokens
      lease.tokens -= cost
      this.leased += cost
      this.#admit(cost)
    } else if (event.kind === 'consume') {
      const cost = Math.max(1, Math.round(part * burst * (other < 0.5 ? 1.1 : 0.1)))
      const { outcome, writes } = applyGroup([this.state], [{ slot: 0, limit, cost, phase: 0 }], this.now)
      this.state = (writes[0]?.state as LeasedState | undefined) ?? this.state
      if (outcome === 'allowed') this.#admit(cost)
    } else {
      this.state = this.#adopted(limit)
      this.state = limit.algorithm.adjust(limit.plan, this.state, this.now, -Math.ceil(part * burst), 0) as LeasedState | undefined
    }
  }

  #adopted(limit: AnyLimit): LeasedState | undefined {
    const gone = this.state !== undefined && this.now >= limit.algorithm.expiresAt(this.state.plan, this.state)
    if (gone) this.state = undefined
    return this.state === undefined ? undefined : (limit.algorithm.adopt(limit.plan, this.state, this.now, 0) as LeasedState | undefined)
  }

  #deliver(limit: AnyLimit, which: number, lost: number, duplicate: boolean): void {
    const index = some(which, this.#requests.length)
    const request = this.#requests[index]
    if (request === undefined) return
    if (!duplicate) this.#requests.splice(index, 1)
    const { granted, state } = grantLease(limit.plan, this.#adopted(limit), this.now, request.leaseRequest)
    this.state = state
    if (lost > 0.15) this.#answers.push({ ...request, granted })
  }

  /** Only the answer to a holder's newest request counts. The store treats the tokens that an older answer granted as spent. */
  #answer(which: number): void {
    const [answer] = this.#answers.splice(some(which, this.#answers.length), 1)
    if (answer === undefined) return
    const lease = this.#leases[answer.holder] as Leased
    if (answer.leaseRequest.sequence !== lease.sequence) return
    const deadline = answer.sentAt + answer.leaseRequest.life
    if (this.now >= lease.deadline) lease.tokens = 0
    lease.deadline = deadline
    if (this.now < deadline) lease.tokens += answer.granted
    // A duplicate of the answer has no effect.
    this.#answers = this.#answers.filter(
      ({ holder, leaseRequest }) => holder !== answer.holder || leaseRequest.sequence !== answer.leaseRequest.sequence,
    )
  }

  #admit(micro: number): void {
    if (micro > 0) this.seen.push({ at: this.now, cost: fromMicroTokens(micro), allowed: true })
  }
}

export function outstanding(state: LeasedState | undefined, now: number): number {
  return (state?.leases ?? []).reduce((sum, { amount, until }) => sum + (until > now ? amount : 0), 0)
}

/** Mostly the newest. */
function some(which: number, length: number): number {
  return which < 0.7 ? length - 1 : Math.floor(which * length)
}
