/** One grant: who got it, and what became of it. */
interface Granted {
  readonly id: string
  readonly cost: bigint
  until: bigint
  readonly fence: bigint
  given: boolean
}

/** What a call for a slot is answered, computed without the library's algorithm. Times are microseconds since 1970. */
export interface SlotAnswer {
  readonly outcome: 'allowed' | 'denied' | 'impossible'
  readonly remaining: number
  readonly retryAfter: number
  readonly until?: number
  readonly fence?: number
}

/**
 * The slots of one key, written from the definition: a list of all grants ever made. Nothing is removed, and every call finds anew who
 * holds slots.
 */
export class SlotOracle {
  #grants: Granted[] = []
  #seen = 0n

  acquire(at: bigint, id: string, cost: bigint, limit: bigint, hold: bigint): SlotAnswer {
    const time = this.#timeAt(at)
    const remaining = (): number => {
      const free = limit - this.heldAt(time)
      return free < 0n ? 0 : Number(free / 1_000_000n)
    }
    if (cost > limit) return { outcome: 'impossible', remaining: remaining(), retryAfter: 0 }
    const own = this.#liveAt(time).find((one) => one.id === id)
    if (own !== undefined) return { ...this.#granted(own), remaining: remaining() }
    if (this.heldAt(time) + cost <= limit) {
      const last = this.#grants.at(-1)?.fence ?? 0n
      const made = { id, cost, until: time + hold, fence: time > last ? time : last + 1n, given: false }
      this.#grants.push(made)
      this.#seen = time
      return { ...this.#granted(made), remaining: remaining() }
    }
    const ends = this.#liveAt(time).map(({ until }) => until)
    const fits = ends.filter((end) => this.heldAt(end) + cost <= limit).reduce((one, other) => (one < other ? one : other))
    return { outcome: 'denied', remaining: remaining(), retryAfter: Number(fits - at) }
  }

  release(at: bigint, id: string): void {
    const time = this.#timeAt(at)
    const own = this.#liveAt(time).find((one) => one.id === id)
    if (own === undefined) return
    own.given = true
    this.#seen = time
    // Nothing is kept of a key that nobody uses.
    if (this.heldAt(time) === 0n && (this.#grants.at(-1) as Granted).fence < time) {
      this.#grants = []
      this.#seen = 0n
    }
  }

  extend(at: bigint, id: string, hold: bigint): void {
    const time = this.#timeAt(at)
    const own = this.#liveAt(time).find((one) => one.id === id)
    if (own === undefined || own.until >= time + hold) return
    own.until = time + hold
    this.#seen = time
  }

  /** The sum of the costs of those who hold slots at an instant. The instant is not before the last change. */
  heldAt(time: bigint): bigint {
    return this.#liveAt(time).reduce((sum, { cost }) => sum + cost, 0n)
  }

  #liveAt(time: bigint): Granted[] {
    return this.#grants.filter(({ until, given }) => !given && until > time)
  }

  #timeAt(at: bigint): bigint {
    return at > this.#seen ? at : this.#seen
  }

  #granted({ until, fence }: Granted): Pick<SlotAnswer, 'outcome' | 'retryAfter' | 'until' | 'fence'> {
    return { outcome: 'allowed', retryAfter: 0, until: Number(until), fence: Number(fence) }
  }
}
