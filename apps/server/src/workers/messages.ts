import type { OverrideFields } from 'sluice/policy'
import type { Repeated } from '../repeated-warnings.ts'

/** What workers can be asked about each other. */
export type Question = 'metrics' | 'ready' | 'top'

/** From the primary to a worker. */
export type ToWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | ({ readonly kind: 'gathered'; readonly id: number } & Gathered)
  | ({ readonly kind: 'begin' } & Beginning)
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  /** The earliest of this worker's own policies that was not answered yet has its place among those of all. */
  | { readonly kind: 'ordered' }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  /** The port is open, or cannot be opened. */
  | ({ readonly kind: 'listening' } & Opened)
  /** With a connection. */
  | { readonly kind: 'connection' }
  /** Answers wait until `stop`: the port is being closed. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'stop' }

/** From a worker to the primary. */
export type ToPrimary =
  | { readonly kind: 'gather'; readonly id: number; readonly question: Question }
  | { readonly kind: 'told'; readonly id: number; readonly answer: string }
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  | { readonly kind: 'beginning' }
  | { readonly kind: 'serving' }
  /** Wants the port to be open. */
  | { readonly kind: 'listen' }
  /** It has the connection that was passed to it. */
  | { readonly kind: 'taken' }
  /** Happened that many times since the last such message; the primary warns of it. */
  | { readonly kind: 'repeated'; readonly what: Repeated; readonly times: number }

/** The port of all workers, or why there is none. */
export type Opened = { readonly port: number } | { readonly failed: string }

/** What all workers answered, and how many there should be; what ended workers had counted stands among the answers. */
export interface Gathered {
  readonly answers: readonly string[]
  readonly workers: number
}

/** A policy that one worker was given and all must have. */
export interface RelayedPolicy {
  readonly text: string
  /** Stands in messages. */
  readonly filename: string
  readonly format?: 'yaml' | 'json'
  /** It is what the policy file holds: workers that begin read it there. */
  readonly fromFile?: true
}

/** An override that one worker set and all must have, or that it took back, where there are no fields. */
export interface RelayedOverride {
  readonly rule: string
  /** All values of the rule's key as the rule reads them, null for absent ones. */
  readonly key: readonly (string | null)[]
  readonly fields?: OverrideFields
}

/** What a worker must take in before it answers anybody, where the others were given it. */
export interface Beginning {
  /** Instead of the file's. */
  readonly policy: RelayedPolicy | undefined
  readonly overrides: readonly RelayedOverride[]
  /** Two numbers in [0, 1) that nobody can guess: by them all workers have the same names for keys. */
  readonly names: readonly [number, number]
}

/** Whether a message is one of ours: the channel is shared with the runtime's own. */
export function isMessage(message: unknown): message is { readonly kind: string } {
  return typeof message === 'object' && message !== null && 'kind' in message && typeof message.kind === 'string'
}
