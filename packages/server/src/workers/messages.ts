import type { OverrideFields } from 'sluice/policy'
import type { Repeated } from '../cli/repeated-warnings.ts'

/** What the primary can request from all workers on behalf of one. */
export type Question = 'metrics' | 'ready' | 'top'

/** Messages from the primary to a worker. */
export type ToWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | ({ readonly kind: 'gathered'; readonly id: number } & Gathered)
  | ({ readonly kind: 'begin' } & Beginning)
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  /** The primary has ordered the earliest policy of this worker that it had not ordered yet. */
  | { readonly kind: 'ordered' }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  /** The port is open, or cannot be opened. */
  | ({ readonly kind: 'listening' } & Opened)
  /** Sent with a connection. */
  | { readonly kind: 'connection' }
  /** Hold responses until `stop`: the port is being closed. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'stop' }

/** Messages from a worker to the primary. */
export type ToPrimary =
  | { readonly kind: 'gather'; readonly id: number; readonly question: Question }
  | { readonly kind: 'told'; readonly id: number; readonly answer: string }
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  | { readonly kind: 'beginning' }
  | { readonly kind: 'serving' }
  /** The worker wants the port to be open. */
  | { readonly kind: 'listen' }
  /** The worker has the connection that was passed to it. */
  | { readonly kind: 'taken' }
  /** Reports that an event happened `times` times since the last such message; the primary prints the warning. */
  | { readonly kind: 'repeated'; readonly what: Repeated; readonly times: number }

/** The port of all workers, or the reason why it could not be opened. */
export type Opened = { readonly port: number } | { readonly failed: string }

/** The answers of all workers and the configured number of workers. They include the counters of workers that ended. */
export interface Gathered {
  readonly answers: readonly string[]
  readonly workers: number
}

/** A policy that one worker accepted and all must use. */
export interface RelayedPolicy {
  readonly text: string
  /** The name in messages. */
  readonly filename: string
  readonly format?: 'yaml' | 'json'
  /** Set if the policy is the content of the policy file: new workers read it there. */
  readonly fromFile?: true
}

/** An override that one worker set and all must apply; without `fields`, one that it removed. */
export interface RelayedOverride {
  readonly rule: string
  /** All values of the rule's key as the rule reads them; null for absent ones. */
  readonly key: readonly (string | null)[]
  readonly fields?: OverrideFields
}

/** State that a worker must apply before it answers requests, because the other workers have it. */
export interface Beginning {
  /** Replaces the policy of the file. */
  readonly policy: RelayedPolicy | undefined
  readonly overrides: readonly RelayedOverride[]
  /** Two random numbers in [0, 1) that nobody can guess. They give all workers the same names for keys. */
  readonly names: readonly [number, number]
}

/** Whether a message is one of ours: the runtime sends its own messages over the same channel. */
export function isMessage(message: unknown): message is { readonly kind: string } {
  return typeof message === 'object' && message !== null && 'kind' in message && typeof message.kind === 'string'
}
