/** error: limits do not hold or calls fail. warning: they may. note: only worth knowing. */
export type Severity = 'error' | 'warning' | 'note'

/** The texts contain no identity, key or password. */
export interface Finding {
  /** A stable name, for programs. */
  readonly id: string
  readonly severity: Severity
  readonly what: string
  readonly why: string
  readonly fix: string
}

/** One limit, or several that the store does not tell apart. */
export interface LimitUse {
  /** Names of limiter and limit (`policy:per-key`). For a store without names, a number of the limit, such as `burst 20`. */
  readonly limit: string
  readonly algorithm: string
  /** An estimate if not all keys were looked at. */
  readonly keys: number
  /** From a sample; absent if the account may not measure keys. */
  readonly bytes?: number
  /** Keys that never expire; absent for a store without expiring keys. */
  readonly withoutExpiry?: number
}

export interface Audited {
  /** By name, such as `version`. */
  readonly server: Readonly<Record<string, string | number | boolean>>
  readonly findings: readonly Finding[]
  readonly limits: readonly LimitUse[]
  /** Keys or rows that were looked at, and all that there are, other programs' included. */
  readonly looked: { readonly at: number; readonly of: number }
}

export interface AuditRequest {
  /** The most keys or rows to look at. */
  readonly maxKeys: number
  /** The prefix of the Redis keys. */
  readonly prefix: string
  progress(done: number, total: number): void
}

/** Writes nothing. May be called before the store has connected. */
export type Audit = (request: AuditRequest) => Promise<Audited>

export function findingList() {
  const all: Finding[] = []
  return {
    all,
    add(holds: boolean | undefined, id: string, severity: Severity, what: string, why: string, fix: string) {
      if (holds === true) all.push({ id, severity, what, why, fix })
    },
  }
}

export type FindingList = ReturnType<typeof findingList>

/** Milliseconds that a server's clock may differ from ours. */
const MAX_SKEW_MS = 1_000

/** @param skewMs the server's time less ours */
export function addClock({ add }: FindingList, skewMs: number, roundTripMs: number): void {
  const uncertain = Math.abs(skewMs) - roundTripMs / 2
  const amount = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine`
  const why = "limits use the server's clock, so they stay exact; but times in headers, logs and overrides (until) differ by that much"
  add(uncertain > MAX_SKEW_MS, 'clock', 'warning', `the server's clock is ${amount}`, why, 'synchronise both clocks (NTP)')
}

/** Whether others can read the connection, or log in. */
export function addAccess({ add }: FindingList, hosts: readonly string[], encrypted: boolean, authenticated: boolean): void {
  const remote = hosts.some((host) => !/^(?:localhost|127\.|::1$|\[::1\]$|\/)/.test(host))
  const read = 'whoever can read the network between sees the password and what keys have used'
  add(
    remote && !encrypted,
    'no-tls',
    'warning',
    'the connection is not encrypted',
    read,
    'use TLS: rediss://..., or sslmode=verify-full for PostgreSQL',
  )
  const anybody = 'whoever can reach the server may reset limits, or delete its data'
  const fix = 'give the server a password, and this store an account of its own'
  add(!authenticated, 'no-password', remote ? 'warning' : 'note', 'the URL has no password, and the server wants none', anybody, fix)
}
