interface Span {
  readonly from: number
  to: number
}

/**
 * How many held slots of one key for certain, by what the store answered: no clock of this process is read. Grants of a key are ordered by
 * their fencing numbers, which are never less than the store's time of the grant. If the answer to a grant came before a holder's release
 * was sent, that holder held its slot at the grant, unless its hold had ended.
 */
export class HeldSpans {
  readonly #spans: Span[] = []
  #newest = 0

  /**
   * An answer has come.
   * @param until when the hold ends, in microseconds
   * @returns what to call before a release is sent
   */
  granted(fence: number, until: number): () => void {
    const span = { from: fence, to: until }
    this.#newest = Math.max(this.#newest, fence)
    this.#spans.push(span)
    return () => (span.to = Math.min(until, this.#newest + 1))
  }

  get grants(): number {
    return this.#spans.length
  }

  /** The most that held slots at one time. A holder no longer does at the instant at which its hold ends. */
  most(): number {
    const events = this.#spans.flatMap(({ from, to }) => (to > from ? [[from, 1] as const, [to, -1] as const] : []))
    let [live, most] = [0, 0]
    for (const [, by] of events.toSorted(([one, first], [other, second]) => one - other || first - second))
      most = Math.max(most, (live += by))
    return most
  }
}
