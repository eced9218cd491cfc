import type { Worker } from 'node:cluster'
import { randomInt } from 'node:crypto'
import type { OverrideFields } from 'sluice/policy'
import type { Readiness } from '../endpoints/health.ts'
import type { Activity } from '../page/activity.ts'
import type { LogEntry, Logs } from '../logs/log.ts'
import type { Repeated } from '../logs/repeated-lines.ts'
import type { StateChange } from '../logs/states.ts'
import type { Counted } from '../page/busiest-keys.ts'
import type { Candidate } from '../policy/read-policy.ts'

/** What a process reports about itself; the primary collects the reports of all workers for one of them. */
export interface Reports {
  readonly metrics: string
  readonly readiness: Readiness
  /** One entry for each process. */
  readonly top: readonly Counted[]
  /** One entry for each process. */
  readonly activity: readonly Activity[]
}

/** Reads the reports of one process, or of all processes of a service. */
export type ReadReports = {
  /** @param isFirst false if another process reports what is the same for all of them, such as the number of keys in the store */
  readonly [Name in keyof Reports]: (isFirst?: boolean) => Promise<Reports[Name]> | Reports[Name]
}

/** Messages from the primary to a worker. */
export type ToWorker =
  | ({ readonly kind: 'begin' } & Beginning)
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  /** The primary gave a policy of this worker its place in the order of all policies: the oldest one that had no place yet. */
  | { readonly kind: 'ordered' }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  /** The port is open, or cannot be opened. */
  | ({ readonly kind: 'listening' } & Opened)
  | { readonly kind: 'connection' }
  | { readonly kind: 'report'; readonly id: number; readonly name: keyof Reports; readonly isFirst: boolean }
  | ({ readonly kind: 'gathered'; readonly id: number } & Gathered)
  /** Hold responses until `stop`: the port is being closed. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'stop' }

/** Messages from a worker to the primary. */
export type ToPrimary =
  /** The worker needs the policy and overrides that the other workers have. From then on it also gets their changes. */
  | { readonly kind: 'beginning' }
  | { readonly kind: 'listen' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'taken' }
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  | { readonly kind: 'override'; readonly change: RelayedOverride }
  | { readonly kind: 'gather'; readonly id: number; readonly name: keyof Reports }
  | { readonly kind: 'reported'; readonly id: number; readonly report: unknown }
  /** An event happened `times` times since the last such message; the primary writes the line. */
  | { readonly kind: 'repeated'; readonly what: Repeated; readonly times: number }
  /** A line for the log, which the primary writes. */
  | { readonly kind: 'line'; readonly from: keyof Logs; readonly entry: LogEntry }
  | { readonly kind: 'state'; readonly change: StateChange }

export type Opened = { readonly port: number } | { readonly failed: string }

/** The reports of the workers that answered in time, and how many workers there should be. */
export interface Gathered {
  readonly reports: readonly unknown[]
  readonly workers: number
}

/** A policy that one worker accepted and all must use. */
export interface RelayedPolicy extends Candidate {
  readonly text: string
  /** Set if the policy was read from its file or fetched from its URL: new workers read the policy themselves, and may get a newer one. */
  readonly fromPlace?: true
  /** Milliseconds since 1970 when the request for the policy began; set only if the policy was fetched from a URL. */
  readonly requestedAt?: number
}

/** An override that one worker set and all must apply; without `fields`, the worker removed the override. */
export interface RelayedOverride {
  readonly rule: string
  /** All values of the rule's key as the rule reads them; null for absent ones. */
  readonly key: readonly (string | null)[]
  readonly fields?: OverrideFields
}

/** What a worker must apply before it answers requests, because the other workers use it: policy, overrides and numbers for pseudonyms. */
export interface Beginning {
  /** The policy to use in place of the one that the worker read; undefined to keep that one. */
  readonly policy: RelayedPolicy | undefined
  readonly overrides: readonly RelayedOverride[]
  /** Two random numbers in [0, 1) that nobody can guess. They give all workers the same pseudonyms for keys. */
  readonly names: readonly [number, number]
}

export function randomNames(): Beginning['names'] {
  return [randomInt(2 ** 32) / 2 ** 32, randomInt(2 ** 32) / 2 ** 32]
}

/** Sends a message, unless the worker has lost its channel; it may lose the channel before its exit is reported. */
export function sendTo(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}
