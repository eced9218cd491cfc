/** Doubles of a page: twice as many as the largest block. */
const PAGE = 65_536
/** Doubles of an entry: its instant, and the sum of all charges up to it. */
export const ENTRY = 2
const BYTES = 8

/**
 * Memory for log entries, without an object for each log: blocks of 2 ** size entries, cut from pages. A block's number is the index of its
 * first double among the doubles of all pages.
 */
export class Arena {
  bytes = 0
  readonly #pages: Float64Array[] = []
  readonly #free: number[][] = []
  /** The index of the last page's first unused double. */
  #next: number = PAGE

  static bytesOf(size: number): number {
    return doublesOf(size) * BYTES
  }

  /** The smallest size that holds this many entries. */
  static sizeFor(entries: number): number {
    return entries <= 1 ? 0 : 32 - Math.clz32(entries - 1)
  }

  take(size: number): number {
    this.bytes += Arena.bytesOf(size)
    return this.#free[size]?.pop() ?? this.#cut(size)
  }

  giveBack(block: number, size: number): void {
    this.bytes -= Arena.bytesOf(size)
    this.#keep(block, size)
  }

  pageOf(block: number): Float64Array {
    return this.#pages[Math.floor(block / PAGE)] as Float64Array
  }

  offsetOf(block: number): number {
    return block % PAGE
  }

  #cut(size: number): number {
    const doubles = doublesOf(size)
    if (this.#next + doubles > PAGE) {
      this.#useUp()
      this.#pages.push(new Float64Array(PAGE))
      this.#next = 0
    }
    const block = (this.#pages.length - 1) * PAGE + this.#next
    this.#next += doubles
    return block
  }

  #useUp(): void {
    while (PAGE - this.#next >= ENTRY) {
      const size = 31 - Math.clz32((PAGE - this.#next) / ENTRY)
      this.#keep((this.#pages.length - 1) * PAGE + this.#next, size)
      this.#next += doublesOf(size)
    }
  }

  #keep(block: number, size: number): void {
    const blocks = this.#free[size]
    if (blocks === undefined) this.#free[size] = [block]
    else blocks.push(block)
  }
}

function doublesOf(size: number): number {
  return ENTRY << size
}
