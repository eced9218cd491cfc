/** A way to be measured from the first import of a process on: its engine, its name, and where its server is. */
export interface ColdInput {
  readonly engine: 'redis' | 'postgres'
  readonly way: ColdWay
  readonly url: string
  /** Begins every key of this sample, or is the schema that was prepared for the way (PostgreSQL). */
  readonly space: string
  readonly calls: number
}

export type ColdWay = 'baseline' | 'bare' | 'sluice' | 'flexible' | 'express-store'

/** One process. Processor time is that of all its threads, user and system, in microseconds. */
export interface ColdSample {
  readonly name: string
  readonly cpu: {
    /** Modules: the client library, and the limiter where there is one. */
    readonly imported: number
    /** Connecting, sending the program, and whatever the way's pages have one wait for before the first request. */
    readonly opened: number
    /** The requests, one after the other. */
    readonly called: number
  }
  /** Wall time of a request, in microseconds. */
  readonly latency: { readonly first: number; readonly p50: number; readonly p99: number }
  readonly refused: number
  readonly undecided: number
}
