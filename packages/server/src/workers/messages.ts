import type { Worker } from 'node:cluster'
import { randomInt } from 'node:crypto'
import type { KeyTarget, OverrideFields } from 'sluice/policy'
import type { Readiness } from '../endpoints/health.ts'
import type { Activity } from '../page/activity.ts'
import type { LogEntry, Logs } from '../logs/log.ts'
import type { Repeated } from '../logs/repeated-lines.ts'
import type { StateChange } from '../logs/states.ts'
import type { Counted } from '../page/busiest-keys.ts'
import type { Candidate } from '../policy/read-policy.ts'

export interface Reports {
  readonly metrics: string
  readonly readiness: Readiness
  /** One entry for each process. */
  readonly top: readonly Counted[]
  readonly activity: readonly Activity[]
}

/** `barrier`: an empty report, sent when the worker has applied all earlier changes of overrides. */
export type ReportName = keyof Reports | 'barrier'

export type ReadReports = {
  /** @param isFirst false if another process reports what all share, such as the number of keys */
  readonly [Name in keyof Reports]: (isFirst?: boolean) => Promise<Reports[Name]> | Reports[Name]
}

export type ToWorker =
  | ({ readonly kind: 'begin' } & Beginning)
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  /** The primary has put this worker's oldest pending policy into the common order. */
  | { readonly kind: 'ordered' }
  /** In the common order. Also sent to the worker that made the changes. */
  | { readonly kind: 'overrides'; readonly changes: readonly RelayedOverride[] }
  /** The port is open, or cannot be opened. */
  | ({ readonly kind: 'listening' } & Opened)
  | { readonly kind: 'connection' }
  | { readonly kind: 'report'; readonly id: number; readonly name: ReportName; readonly isFirst: boolean }
  | ({ readonly kind: 'gathered'; readonly id: number } & Gathered)
  /** Hold responses until `stop`: the port is being closed. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'stop' }

export type ToPrimary =
  /** The worker needs the others' policy and overrides; from then on it gets their changes. */
  | { readonly kind: 'beginning' }
  | { readonly kind: 'listen' }
  /** `read`: the policy that this worker read from the file or URL itself; absent if it began with the others'. */
  | { readonly kind: 'serving'; readonly read?: RelayedPolicy | undefined }
  | { readonly kind: 'taken' }
  | { readonly kind: 'policy'; readonly policy: RelayedPolicy }
  /** `gathered` follows when all workers have applied the changes, or after a second. Its first report: how many overrides they removed. */
  | { readonly kind: 'overrides'; readonly id: number; readonly changes: readonly RelayedOverride[]; readonly target?: KeyTarget }
  | { readonly kind: 'gather'; readonly id: number; readonly name: keyof Reports }
  | { readonly kind: 'reported'; readonly id: number; readonly report: unknown }
  /** The event happened `times` times since the last message. */
  | { readonly kind: 'repeated'; readonly what: Repeated; readonly times: number }
  /** The primary writes the line. */
  | { readonly kind: 'line'; readonly from: keyof Logs; readonly entry: LogEntry }
  | { readonly kind: 'state'; readonly change: StateChange }

export type Opened = { readonly port: number } | { readonly failed: string }

/** `workers`: how many there should be. */
export interface Gathered {
  readonly reports: readonly unknown[]
  readonly workers: number
}

/** A policy that one worker accepted and all must use. */
export interface RelayedPolicy extends Candidate {
  readonly text: string
  /** Read from the file or URL that all workers watch. */
  readonly fromPlace?: true
  /** Milliseconds since 1970 when the request began; only for a policy from a URL. */
  readonly requestedAt?: number
}

/** Without `fields`, the override was removed. */
export interface RelayedOverride {
  readonly rule: string
  /** The values of the rule's key; null for absent ones. */
  readonly key: readonly (string | null)[]
  readonly fields?: OverrideFields
}

/** Equal for overrides of the same key of a rule. */
export function overrideName({ rule, key }: RelayedOverride): string {
  return JSON.stringify([rule, key])
}

/** @param now milliseconds since 1970 */
export function hasEnded({ fields }: RelayedOverride, now: number): boolean {
  return fields?.until !== undefined && Date.parse(fields.until) <= now
}

/** How many overrides were removed. `full`: the change is refused, because there are too many overrides. */
export type Removed = number | 'full'

/**
 * Puts changes in the order of all processes. Resolves with the number of overrides that they removed, when all processes have applied them
 * or a second has passed; with `full` if the change would be one override too many. Without changes: when this process has applied all
 * changes that are earlier in the order.
 * @param target its overrides are also removed, if they have exactly its key
 */
export type OrderOverrides = (changes: readonly RelayedOverride[], target?: KeyTarget) => Promise<Removed>

/** What a worker must apply before it answers requests. */
export interface Beginning {
  /** What the others have from the file or URL, which may be bad or away by now. Undefined if this worker must read it. */
  readonly fromPlace: RelayedPolicy | undefined
  /** Replaces the policy of the file or URL; undefined to keep that. */
  readonly policy: RelayedPolicy | undefined
  readonly overrides: readonly RelayedOverride[]
  /** Random numbers in [0, 1) that nobody can guess; with them all workers make the same pseudonyms of keys. */
  readonly names: readonly [number, number]
}

export function randomNames(): Beginning['names'] {
  return [randomInt(2 ** 32) / 2 ** 32, randomInt(2 ** 32) / 2 ** 32]
}

/** A worker may lose its channel before its exit is reported. */
export function sendTo(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}
