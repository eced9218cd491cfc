/** A limiter that is measured from the first import of a process on: its engine, its name, and its server's URL. */
export interface ColdInput {
  readonly engine: 'redis' | 'postgres'
  readonly way: ColdWay
  readonly url: string
  /** The prefix of every key of this sample, or for PostgreSQL the schema that was prepared for the limiter. */
  readonly space: string
  readonly calls: number
}

export type ColdWay = 'baseline' | 'bare' | 'sluice' | 'flexible' | 'express-store'

/** The measurements of one process. Processor time is that of all its threads, user and system, in microseconds. */
export interface ColdSample {
  readonly name: string
  readonly cpu: {
    /** Importing the modules: the client library, and the limiter if there is one. */
    readonly imported: number
    /** Connecting, sending the program, and everything else that the limiter's documentation requires before the first request. */
    readonly opened: number
    /** Making the requests, one after the other. */
    readonly called: number
  }
  /** Wall time of a request, in microseconds. */
  readonly latency: { readonly first: number; readonly p50: number; readonly p99: number }
  readonly refused: number
  readonly undecided: number
}
