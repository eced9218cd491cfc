/** How much a finding matters. With an error, limits do not hold or calls fail. With a warning, they may. A note is only worth knowing. */
export type Severity = 'error' | 'warning' | 'note'

/** One result of `sluice audit`. Its texts contain no identity, no key and no password. */
export interface Finding {
  /** A stable name, for programs. */
  readonly id: string
  readonly severity: Severity
  /** What was found. */
  readonly what: string
  /** Why it matters. */
  readonly why: string
  /** What to do. */
  readonly fix: string
}

/** The states of one limit, or of all limits that the store does not tell apart. */
export interface LimitUse {
  /** The names of limiter and limit (`policy:per-key`). For a store without names, a number of the limit, such as `burst 20`. */
  readonly limit: string
  readonly algorithm: string
  /** Keys of the limit; an estimate if not all keys were looked at. */
  readonly keys: number
  /** Bytes of these keys, from a sample; absent if the account may not read them. */
  readonly bytes?: number
  /** The number of these keys that never expire; absent for a store that does not expire keys by itself. */
  readonly withoutExpiry?: number
}

export interface Audited {
  /** Facts about the server and the account, by name, such as `version`. */
  readonly server: Readonly<Record<string, string | number | boolean>>
  readonly findings: readonly Finding[]
  readonly limits: readonly LimitUse[]
  /** How many keys or rows were looked at, and how many there are, including those of other programs. */
  readonly looked: { readonly at: number; readonly of: number }
}

export interface AuditRequest {
  /** The most keys or rows to look at. */
  readonly maxKeys: number
  /** The prefix of the Redis keys. */
  readonly prefix: string
  /** Called as the work goes on. */
  progress(done: number, total: number): void
}

/** Reads a store and its server, and writes nothing. It may be called before the store has connected. */
export type Audit = (request: AuditRequest) => Promise<Audited>

/** Makes a list of findings. `add` adds a finding if its condition is true. */
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

/** Milliseconds by which a server's clock may differ from ours. People do not notice a smaller difference. */
const MAX_SKEW_MS = 1_000

/** A finding about the server's clock. @param skewMs its time less ours */
export function addClock({ add }: FindingList, skewMs: number, roundTripMs: number): void {
  const uncertain = Math.abs(skewMs) - roundTripMs / 2
  const amount = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine`
  const why = "limits use the server's clock, so they stay exact; but times in headers, logs and overrides (until) differ by that much"
  add(uncertain > MAX_SKEW_MS, 'clock', 'warning', `the server's clock is ${amount}`, why, 'synchronise both clocks (NTP)')
}

/** Findings about the connection to the server: whether others can read what it carries, and whether others can log in. */
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
