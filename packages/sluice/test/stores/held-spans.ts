interface Span {
  readonly from: number
  to: number
}

/**
 * Counts how many held slots of one key for certain, without reading a clock of this process. Fencing numbers order the grants of a key. A
 * fencing number is never less than the store's time of its grant. If a grant was answered before a holder's release was sent, the holder
 * still had its slot at that grant. The exception is a hold that had ended.
 */
export class HeldSpans {
  readonly #spans: Span[] = []
  #newest = 0

  /**
   * Notes a grant when its answer has come.
   * @param until when the hold ends, in microseconds
   * @returns a function to call right before the release is sent
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

  /** The most holders at one time. At the instant at which its hold ends, a holder no longer counts. */
  most(): number {
    const events = this.#spans.flatMap(({ from, to }) => (to > from ? [[from, 1] as const, [to, -1] as const] : []))
    let [live, most] = [0, 0]
    for (const [, by] of events.toSorted(([one, first], [other, second]) => one - other || first - second))
      most = Math.max(most, (live += by))
    return most
  }
}
