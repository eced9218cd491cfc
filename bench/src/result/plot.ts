/** An axis; `log` where values differ by powers of ten. */
export interface Axis {
  readonly title: string
  readonly log?: boolean
}

export interface Point {
  readonly x: number
  readonly y: number
  /** The quartiles around y, if there were several measurements. */
  readonly low?: number
  readonly high?: number
}

export interface Series {
  readonly name: string
  readonly kind: 'ours' | 'baseline' | 'peer' | 'floor' | 'quoted' | 'computed'
  readonly points: readonly Point[]
}

/** Lines over a number, such as latency over callers. Tables with a rank are drawn without a `Plot`. */
export interface Plot {
  readonly name: string
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
  /** A step is drawn instead of straight lines, as for tokens in a bucket over time. */
  readonly steps?: boolean
}
