import type { Quota } from '../contestants/contestant.ts'

export type Framework = 'node' | 'express' | 'fastify' | 'hono'

/**
 * What stands before the handler. `bare`: nothing. `constant`: the header fields of the order, set by hand, and 429 if the order says so.
 * `sluice`: Sluice's adapter with the fields that all contestants can send. `sluice-default`: the adapter with its default fields.
 * `sluice-off`: the adapter without fields. `async`: a function that returns true.
 */
export type Guard =
  | 'bare'
  | 'constant'
  | 'async'
  | 'sluice'
  | 'sluice-default'
  | 'sluice-off'
  | 'express-rate-limit'
  | 'rate-limiter-flexible'
  | '@fastify/rate-limit'
  | 'hono-rate-limiter'

/** Describes a web server of the suite. It is the argument of `web-server.js`, as JSON. */
export interface ServerOrder {
  readonly framework: Framework
  readonly guard: Guard
  readonly quota: Quota
  /** For the guard `constant`: the header fields and the status that it sets. */
  readonly fields?: readonly (readonly [name: string, value: string])[]
  readonly status?: number
  /** The URL of the store; default: the memory of the process. */
  readonly redis?: string
}

/** Milliseconds for which a server keeps an idle connection: long enough for a server that waits for its turn while others are measured. */
export const KEPT_MS = 600_000
/** The body of every answer of the handler, and of the constant refusal. */
export const BODY = 'ok'
export const REFUSAL = 'Too many requests, please try again later.'
