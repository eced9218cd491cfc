/** From the most important to the least. */
export const LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LEVELS)[number]

export const FORMATS = ['json', 'text'] as const
export type LogFormat = (typeof FORMATS)[number]

/** docs/observing.md explains each name; programs may rely on them. */
export type LogEvent =
  | 'serving'
  | 'draining'
  | 'stopped'
  | 'connections-limited'
  | 'connections-full'
  | 'store-lost'
  | 'store-back'
  | 'store-refused'
  | 'store-setting'
  | 'breaker-open'
  | 'breaker-closed'
  | 'decision-log-dropped'
  | 'decision-log-kept'
  | 'policy-taken'
  | 'policy-refused'
  | 'policy-reached'
  | 'policy-warning'
  | 'policy-not-shared'
  | 'override-not-shared'
  | 'engine-warning'
  | 'region-key'
  | 'region-away'
  | 'region-back'
  | 'region-phase'
  | 'token-keys'
  | 'wrong-token'
  | 'worker-ended'
  | 'message-ignored'
  | 'request-failed'

/** Facts for programs, without identities and passwords. */
export type LogFields = Readonly<Record<string, string | number | boolean>>

/** The message alone must say everything; only JSON lines have the fields. */
export type Log = (level: LogLevel, event: LogEvent, message: string, fields?: LogFields) => void

export type LogEntry = Parameters<Log>

export interface Logs {
  /** Every process notices the change; only one process's line is written. */
  readonly shared: Log
  /** Only this process notices the change. */
  readonly single: Log
  /** About this process: a worker's line names the worker. */
  readonly own: Log
}
