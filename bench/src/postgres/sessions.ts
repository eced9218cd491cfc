import pg from 'pg'
import { createLimiter, tokenBucket } from 'sluice'
import { pg as port, postgresStore } from 'sluice/postgres'
import { type RingName, RINGS } from '../redis/rings.ts'
import { makeArticle, takeToken } from './article.ts'
import { poolIn } from './pool.ts'

export interface SessionsInput {
  readonly url: string
  readonly seconds: number
  readonly isolation: 'read committed' | 'serializable'
  readonly way: 'article' | 'bare' | 'sluice'
}

export interface SessionsResult {
  readonly total: number
  readonly perSecond: number
  /** SQLSTATE, or what a decision says -> how often. */
  readonly failures: Readonly<Record<string, number>>
}

/** The article's test of its function: eight sessions, each as fast as it is answered, 1000 tokens a second for an hour. */
const SESSIONS = 8
const REFILL = 1_000
const WINDOW = 3_600

/** Sessions with a connection each; one that fails tries again. */
export async function runSessions({ url, seconds, isolation, way }: SessionsInput): Promise<SessionsResult> {
  const schema = `sessions_${way}_${isolation.replace(' ', '_')}`
  const pool = await poolIn(url, schema, SESSIONS, `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`)
  const failures: Record<string, number> = {}
  const failed = (what: string): void => {
    failures[what] = (failures[what] ?? 0) + 1
  }
  let total = 0
  const invoke = way === 'article' ? await articleSession(pool, failed) : await sluiceSession(pool, way, failed)
  const started = performance.now()
  const session = async (): Promise<void> => {
    while (performance.now() < started + seconds * 1_000) {
      await invoke()
      total += 1
    }
  }
  await Promise.all(Array.from({ length: SESSIONS }, session))
  const elapsed = performance.now() - started
  await pool.end()
  return { total, perSecond: (total / elapsed) * 1_000, failures }
}

async function articleSession(pool: pg.Pool, failed: (what: string) => void): Promise<() => Promise<void>> {
  await makeArticle(pool)
  return async () => {
    await takeToken(pool, 'user1', REFILL, WINDOW).catch((error: unknown) =>
      failed(error instanceof pg.DatabaseError ? `${error.code}` : String(error)),
    )
  }
}

async function sluiceSession(pool: pg.Pool, ring: RingName, failed: (what: string) => void): Promise<() => Promise<void>> {
  const store = postgresStore({ client: port(pool), ring: RINGS[ring] })
  await store.migrate()
  const limiter = createLimiter({ limit: tokenBucket({ rate: `${REFILL}/s`, burst: REFILL * WINDOW }), store })
  return async () => {
    const { outcome, degraded } = await limiter.check('user1')
    if (outcome === 'undecided') failed(`undecided, ${degraded.kind}`)
  }
}
