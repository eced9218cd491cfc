/** The levels of lines, from the most important to the least. */
export const LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LEVELS)[number]

export const FORMATS = ['json', 'text'] as const
export type LogFormat = (typeof FORMATS)[number]

/** What a line reports. docs/observing.md explains each name; programs may rely on them. */
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
  | 'request-failed'

/** Facts of a line, for programs. They contain no identities and no passwords. */
export type LogFields = Readonly<Record<string, string | number | boolean>>

/** Writes one line. The message is a sentence that says everything a person needs; JSON lines have the fields in addition. */
export type Log = (level: LogLevel, event: LogEvent, message: string, fields?: LogFields) => void

/** The arguments of a `Log`, as one process sends them to another. */
export type LogEntry = Parameters<Log>

/** Where a process of a service writes its lines. */
export interface Logs {
  /** For changes that every process notices. The service writes the line of one process only. */
  readonly shared: Log
  /** For changes that this process alone notices. */
  readonly single: Log
  /** For lines about this process. The line of a worker names the worker. */
  readonly own: Log
}
