import { StoreFailure } from 'sluice'
import { storeParameterMistake } from 'sluice/policy'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import { memory } from './memory.ts'
import type { Opening, OpenStore } from './opening.ts'
import { pglite } from './pglite.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { isSetupError } from './setup-error.ts'
import { withoutPassword, withoutSecrets } from './store-name.ts'

export interface OpenOptions {
  /** Milliseconds that connecting, making tables and the first answer may take together; default five seconds. */
  readonly startMs?: number
  /**
   * Isolates the states from others in the same store, under a prefix or in a schema of this name: lower-case letters, digits and `_`.
   */
  readonly space?: string
  /** The folder of relative file names in the URL; default the working directory. */
  readonly folder?: string
}

export interface BeginOptions extends OpenOptions {
  /** Called when the store is reached after it was unreachable. */
  onReached(): void
  /** Called with the reason, without a password, when a store that was unreachable answers with a refusal; once for each reason. */
  onRefused(reason: string): void
}

/** A store that may be unreachable; connecting is retried until it succeeds or the store is closed. */
export interface BegunStore extends OpenStore {
  /** Why it is not reached, without a password; undefined once it is reached. */
  readonly away: string | undefined
}

const ALLOWED =
  'memory:, redis://HOST:PORT, rediss://..., redis+cluster://HOST,HOST, redis+sentinel://HOST,HOST/PRIMARY, postgres://..., or pglite:DIR'
/** Milliseconds a store may take to answer for the first time. */
const START_MS = 5_000
const CONNECT_MS = 2_000
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
type Opener = (url: string, connectMs: number, space: string | undefined, folder: string) => Promise<Opening>
/** By scheme; `connectMs` is how long a client may take to connect. */
const OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ['memory', async () => memory()],
  ['redis', redis],
  ['rediss', redis],
  ['redis+cluster', redis],
  ['redis+sentinel', redis],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['pglite', (url, _connectMs, space) => pglite(url.slice('pglite:'.length), space)],
])

/**
 * Opens the store of a URL and waits until it can decide.
 * @throws CommandFailure exit 3 for a URL of unknown kind, exit 2 if the server cannot be reached or does not answer in time
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<OpenStore> {
  const { opened, reach, failureOf } = await prepare(url, options)
  try {
    await reach()
  } catch (error) {
    await opened.close()
    throw failureOf(error)
  }
  return opened
}

/**
 * As `openStore`, but an unreachable server is not a failure: the store is returned at once, and connecting is retried without end.
 * @throws CommandFailure exit 3 as `openStore`; exit 2 if the server refuses this service, because waiting does not fix that
 */
export async function beginStore(url: string, options: BeginOptions): Promise<BegunStore> {
  const { opened, reach, failureOf } = await prepare(url, options)
  try {
    await reach()
    return { ...opened, away: undefined }
  } catch (error) {
    if (isSetupError(error)) {
      await opened.close()
      throw failureOf(error)
    }
    let refusal: string | undefined
    const failed = (later: unknown): void => {
      const reason = isSetupError(later) ? failureOf(later).message : undefined
      if (reason !== undefined && reason !== refusal) options.onRefused(reason)
      refusal = reason
    }
    const retrying = retry(reach, options.onReached, failed)
    const close = async (): Promise<void> => {
      retrying.stop()
      await opened.close()
    }
    return { ...opened, close, away: failureOf(error).message }
  }
}

interface Prepared {
  readonly opened: OpenStore
  /** Connects; rejects with the client's error. */
  reach(): Promise<void>
  failureOf(error: unknown): CommandFailure
}

async function prepare(url: string, { startMs = START_MS, space, folder = '.' }: OpenOptions): Promise<Prepared> {
  const name = withoutPassword(url)
  const open = OPENERS.get(/^([a-z+]+):/.exec(url)?.[1] ?? '')
  if (open === undefined) throw new CommandFailure(EXIT.usage, `store ${name}: unknown kind; expected ${ALLOWED}`)
  const mistake = storeParameterMistake(url)
  if (mistake !== undefined) throw new CommandFailure(EXIT.usage, `store ${name} ${mistake}`)
  if (/^memory:./s.test(url)) throw new CommandFailure(EXIT.usage, `store ${name} has more than its scheme: expected memory:`)
  const failureOf = (error: unknown): CommandFailure => {
    if (error instanceof CommandFailure) return error
    const why = error instanceof Error ? (error.message.split('\n')[0] as string) : String(error)
    return new CommandFailure(EXIT.unreachable, `store ${name} cannot be reached: ${withoutSecrets(why, url)}`, { cause: error })
  }
  const opening = await open(url, Math.min(CONNECT_MS, startMs), space, folder).catch((error: unknown) => {
    throw failureOf(error)
  })
  const { begin, reason, ...opened } = opening
  const reach = async (): Promise<void> => {
    const deadline = performance.now() + startMs
    try {
      await within(
        startMs,
        begin().then(() => opened.store.ready({ deadline }).catch(unlessReadOnly)),
      )
    } catch (error) {
      throw reason?.() ?? error
    }
  }
  return { opened: { ...opened, name }, reach, failureOf }
}

/** Ignores the failure of a read-only server: it is reached and can be inspected. `advise` and /readyz report what it cannot do. */
function unlessReadOnly(error: unknown): void {
  if (!(error instanceof StoreFailure && error.kind === 'readonly')) throw error
}

/** Retries until it succeeds or is stopped, with pauses that grow. */
function retry(reach: () => Promise<void>, onReached: () => void, onFailure: (error: unknown) => void): { stop(): void } {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const again = (pause: number): void => {
    timer = setTimeout(() => {
      reach().then(
        () => (stopped ? undefined : onReached()),
        (error: unknown) => {
          if (stopped) return
          onFailure(error)
          again(Math.min(MAX_PAUSE_MS, 2 * pause))
        },
      )
    }, pause)
  }
  again(MIN_PAUSE_MS)
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Bounds the time of `work`. A stopped server accepts connections and never answers, and no client's own timeouts cover all of that. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1_000} s`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
