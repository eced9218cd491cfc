import { memoryStore, StoreFailure } from 'sluice'
import { storeParameterMistake } from 'sluice/policy'
import { CommandFailure, unreachable, usage } from '../cli/failure.ts'
import type { Opener, Opening, OpenRequest, OpenStore } from './opening.ts'
import { pglite } from './pglite.ts'
import { plainWords } from './plain-words.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { hasLateLogin, withoutPassword } from './store-name.ts'
import { within } from './within.ts'

/** `folder` is the working directory by default. */
export interface OpenOptions extends Partial<Pick<OpenRequest, 'space' | 'folder'>> {
  /** Milliseconds for connecting, making tables and the first answer together; default five seconds. */
  readonly startMs?: number
}

export const STORE_FORMS: string =
  'memory:, redis://HOST:PORT, rediss://..., redis+cluster://HOST,HOST, redis+sentinel://HOST,HOST/PRIMARY, postgres://..., or pglite:DIR'
/** Milliseconds a store may take to answer for the first time. */
const START_MS = 5_000
const CONNECT_MS = 2_000
const OPENERS: ReadonlyMap<string, Opener> = new Map([
  ['memory', memory],
  ['redis', redis],
  ['rediss', redis],
  ['redis+cluster', redis],
  ['redis+sentinel', redis],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['pglite', pglite],
])

/**
 * Waits until the store can decide.
 * @throws CommandFailure exit 3 for a URL that cannot be used, exit 2 if the server cannot be reached or does not answer in time
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<OpenStore> {
  const { opened, reach, failureOf } = await prepareStore(url, options)
  try {
    await reach()
  } catch (error) {
    await opened.close()
    throw failureOf(error)
  }
  return opened
}

/**
 * Does not connect.
 * @throws CommandFailure exit 3 for a URL that cannot be used, exit 2 if the driver cannot be loaded
 */
export async function prepareStore(url: string, { startMs = START_MS, space, folder = '.' }: OpenOptions) {
  const name = withoutPassword(url)
  const open = OPENERS.get(/^([a-z+]+):/.exec(url)?.[1] ?? '')
  if (open === undefined) throw usage(`store ${name}: unknown kind; expected ${STORE_FORMS}`)
  if (hasLateLogin(url)) throw usage(`store ${name} has an @ after its host: write / ? # and @ of a password as %2F %3F %23 and %40`)
  const mistake = storeParameterMistake(url)
  if (mistake !== undefined) throw usage(`store ${name} ${mistake}`)
  if (/^memory:./s.test(url)) throw usage(`store ${name} has more than its scheme: expected memory:`)
  /** For a person, without a password. */
  const failureOf = (error: unknown): CommandFailure => {
    if (error instanceof CommandFailure) return error
    const why = error instanceof Error ? error.message : String(error)
    return unreachable(`store ${name} cannot be reached: ${plainWords(why, url)}`, { cause: error })
  }
  const request = { url, connectMs: Math.min(CONNECT_MS, startMs), space, folder }
  const { begin, reason, ...opened } = await open(request).catch((error: unknown) => {
    throw failureOf(error)
  })
  /** Rejects with the client's error; may be called again after a failure. */
  const reach = async (): Promise<void> => {
    const deadline = performance.now() + startMs
    const ready = begin().then(() => opened.store.ready({ deadline }).catch(unlessReadOnly))
    await within(startMs, ready).catch((error: unknown) => {
      throw reason?.() ?? error
    })
  }
  return { opened: { ...opened, name }, reach, failureOf }
}

async function memory(): Promise<Opening> {
  const store = memoryStore()
  const keeps = 'limits are gone on restart, and each process has its own'
  return { store, keeps, begin: async () => {}, close: () => store.close() }
}

/** A read-only server was reached, and its keys can be inspected. `advise` and /readyz report that it cannot decide. */
function unlessReadOnly(error: unknown): void {
  if (!(error instanceof StoreFailure && error.kind === 'readonly')) throw error
}
