import type { AnyLimit, CallOutcome, Cells, Step } from '../../src/algorithms/algorithm.ts'
import type { Entries, LogState } from '../../src/algorithms/log-state.ts'

/**
 * One state of one limit, kept as the memory store keeps it: numbers in cells, a log in a list of its own. A test may drop an expired
 * state.
 */
export class Held {
  readonly step: Step<unknown>
  readonly limit: AnyLimit
  private readonly phase: number
  private held: { state: unknown; expiresAt: number } | undefined
  private readonly into: unknown
  private readonly cells = new Float64Array(3)
  private readonly log = new GrowingLog()

  constructor(limit: AnyLimit, phase = 0) {
    this.limit = limit
    this.phase = phase
    this.step = limit.algorithm.step()
    this.into = limit.algorithm.step().next
  }

  get expiresAt(): number {
    return this.held?.expiresAt ?? 0
  }

  /** Forgets the state. */
  drop(): void {
    this.held = undefined
    this.log.clear()
  }

  /** @param cost micro-tokens */
  decide(now: number, cost: number): CallOutcome {
    const { algorithm, plan } = this.limit
    algorithm.decide(plan, this.held?.state, now, cost, this.phase, this.step)
    if (this.step.outcome === 'allowed') this.keep(this.step.next)
    return this.step.outcome
  }

  /** What is held, for the kernel's other verbs. */
  get state(): unknown {
    return this.held?.state
  }

  private keep(state: unknown): void {
    const { algorithm, plan } = this.limit
    const expiresAt = algorithm.expiresAt(plan, state)
    if (algorithm.cells === 'log') {
      this.held = { state: this.log.apply(state as LogState), expiresAt }
      return
    }
    const cells = algorithm.cells as Cells<unknown>
    cells.save(state, this.cells, 0)
    cells.load(state, this.cells, 0, this.into)
    this.held = { state: this.into, expiresAt }
  }
}

/** The entries of a log. New ones are added at the end, and old ones are removed at the front, as in a store. */
class GrowingLog implements Entries {
  private times: number[] = []
  /** One more than there are times: the sum before the first. */
  private sums: number[] = [0]
  private from = 0

  get length(): number {
    return this.times.length - this.from
  }

  at(index: number): number {
    return this.times[this.from + index] as number
  }

  through(index: number): number {
    return this.sums[this.from + index + 1] as number
  }

  clear(): void {
    this.times = []
    this.sums = [0]
    this.from = 0
  }

  apply({ skip, addedAt, added, merges, window, keepFor }: LogState): LogState {
    this.from += skip
    if (merges) this.times.pop()
    const before = merges ? (this.sums.pop() as number) : (this.sums.at(-1) as number)
    this.times.push(addedAt)
    this.sums.push(before + added)
    if (this.from > 1_000) {
      this.times = this.times.slice(this.from)
      this.sums = this.sums.slice(this.from)
      this.from = 0
    }
    return { entries: this, skip: 0, addedAt: 0, added: 0, merges: false, window, keepFor }
  }
}
