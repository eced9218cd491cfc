import type { Worker } from 'node:cluster'
import { randomInt } from 'node:crypto'
import type { OverrideFields } from 'sluice/policy'
import type { Repeated } from '../cli/repeated-warnings.ts'
import type { Readiness } from '../endpoints/health.ts'
import type { Counted } from '../page/busiest-keys.ts'
import type { Candidate } from '../policy/read-policy.ts'

/** What a process reports about itself; the primary collects the reports of all workers for one of them. */
export interface Reports {
  readonly metrics: string
  readonly readiness: Readiness
  readonly top: Counted
}

/** Messages from the primary to a worker. */
export type ToWorker =
  | ({ readonly kind: 'begin' } & Beginning)
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  /** The primary has ordered the earliest policy of this worker that it had not ordered yet. */
  | { readonly kind: 'ordered' }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  /** The port is open, or cannot be opened. */
  | ({ readonly kind: 'listening' } & Opened)
  | { readonly kind: 'connection' }
  | { readonly kind: 'report'; readonly id: number; readonly name: keyof Reports }
  | ({ readonly kind: 'gathered'; readonly id: number } & Gathered)
  /** Hold responses until `stop`: the port is being closed. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'stop' }

/** Messages from a worker to the primary. */
export type ToPrimary =
  /** The worker wants the state of the others. From then on it gets their changes. */
  | { readonly kind: 'beginning' }
  | { readonly kind: 'listen' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'taken' }
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  | { readonly kind: 'gather'; readonly id: number; readonly name: keyof Reports }
  | { readonly kind: 'reported'; readonly id: number; readonly report: unknown }
  /** An event happened `times` times since the last such message; the primary prints the warning. */
  | { readonly kind: 'repeated'; readonly what: Repeated; readonly times: number }

export type Opened = { readonly port: number } | { readonly failed: string }

/** The reports of the workers that answered in time, and how many workers there should be. */
export interface Gathered {
  readonly reports: readonly unknown[]
  readonly workers: number
}

/** A policy that one worker accepted and all must use. */
export interface RelayedPolicy extends Candidate {
  readonly text: string
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

export function randomNames(): Beginning['names'] {
  return [randomInt(2 ** 32) / 2 ** 32, randomInt(2 ** 32) / 2 ** 32]
}

/** Sends a message, unless the worker has lost its channel; it may lose the channel before its exit is reported. */
export function sendTo(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}
