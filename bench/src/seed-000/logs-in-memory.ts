import { createLimiter, memoryStore, slidingWindowLog } from 'sluice'
import { heldBytes } from '../memory/held-bytes.ts'

export interface LogsInput {
  readonly users: number
  /** Entries of each log. The limit is the same number in a day, so each log is full. */
  readonly entries: number
}

/** Bytes for each log, the requests that were wrongly denied, and those that were wrongly admitted to full logs. */
export interface LogsResult {
  readonly bytesPerUser: number
  readonly refused: number
  readonly beyond: number
}

/** A `maxBytes` so large that the bound on the entries of logs has no effect. */
const PLENTY = 2 ** 31

/** Fills the logs in rounds over all users, so that no two entries of a log have the same instant, and measures the memory. */
export async function holdLogs({ users, entries }: LogsInput): Promise<LogsResult> {
  const names = Array.from({ length: users }, (_, index) => `user:${String(index).padStart(19, '0')}`)
  const before = await heldBytes()
  const store = memoryStore({ maxKeys: users, maxBytes: PLENTY })
  const limiter = createLimiter({ name: 'logs', limit: slidingWindowLog({ limit: entries, window: '1d' }), store })
  let [refused, beyond] = [0, 0]
  for (let round = 0; round < entries; round += 1) for (const name of names) if (!limiter.checkSync(name).allowed) refused += 1
  const bytesPerUser = ((await heldBytes()) - before) / users
  for (const name of names) if (limiter.checkSync(name).allowed) beyond += 1
  return { bytesPerUser, refused, beyond }
}
