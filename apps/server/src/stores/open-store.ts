import { CommandFailure, EXIT } from '../failure.ts'
import { memory } from './memory.ts'
import type { Opening, OpenStore } from './opening.ts'
import { pglite } from './pglite.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { withoutPassword, withoutSecrets } from './store-name.ts'

export interface OpenOptions {
  /** Milliseconds that connecting, making tables and the first answer may take together; default five seconds. */
  readonly startMs?: number
  /** Keeps everything apart from what else is in the store, under a name of small letters, digits and `_`: a prefix, or a schema. */
  readonly space?: string
}

const ALLOWED =
  'memory:, redis://HOST:PORT, rediss://..., redis+cluster://HOST,HOST, redis+sentinel://HOST,HOST/PRIMARY, postgres://..., or pglite:DIR'
/** Milliseconds a store may take until it has answered for the first time. */
const START_MS = 5_000
const CONNECT_MS = 2_000
/** By scheme; a client may take that many milliseconds to connect. */
const OPENERS: ReadonlyMap<string, (url: string, connectMs: number, space: string | undefined) => Promise<Opening>> = new Map([
  ['memory', async () => memory()],
  ['redis', redis],
  ['rediss', redis],
  ['redis+cluster', redis],
  ['redis+sentinel', redis],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['pglite', (url: string, _connectMs: number, space: string | undefined) => pglite(url.slice('pglite:'.length), space)],
])

/**
 * Opens the store a URL names and waits until it can decide.
 * @throws CommandFailure exit 3 for a URL of no known kind, exit 2 where the server cannot be reached or does not answer in time
 */
export async function openStore(url: string, { startMs = START_MS, space }: OpenOptions = {}): Promise<OpenStore> {
  const name = withoutPassword(url)
  const open = OPENERS.get(/^([a-z+]+):/.exec(url)?.[1] ?? '')
  if (open === undefined) throw new CommandFailure(EXIT.usage, `store ${name}: unknown kind; expected ${ALLOWED}`)
  const unreachable = (error: unknown): CommandFailure => {
    const why = error instanceof Error ? (error.message.split('\n')[0] as string) : String(error)
    return new CommandFailure(EXIT.unreachable, `store ${name} cannot be reached: ${withoutSecrets(why, url)}`, { cause: error })
  }
  const { store, keeps, begin, reason, migrate, discard, close } = await open(url, Math.min(CONNECT_MS, startMs), space).catch(
    (error: unknown) => {
      throw unreachable(error)
    },
  )
  const deadline = performance.now() + startMs
  try {
    await within(
      startMs,
      begin().then(() => store.ready({ deadline })),
    )
  } catch (error) {
    await close()
    throw unreachable(reason?.() ?? error)
  }
  return { store, name, keeps, ...(migrate === undefined ? {} : { migrate }), discard, close }
}

/** A server that is stopped takes connections and says nothing; no client's own bounds cover all of that. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1_000} s`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
