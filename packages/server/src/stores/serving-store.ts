import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreFailure } from 'sluice'
import type { Log } from '../logs/log.ts'
import { prepareStore } from './open-store.ts'
import type { OpenStore } from './opening.ts'
import type { StoreHealth } from './store-health.ts'

export interface ServingOptions {
  /** Given if the URL comes from this file: relative file names in the URL then start at its folder. */
  readonly policyFile?: string | undefined
  readonly required: boolean
  readonly log: Log
  readonly health: Pick<StoreHealth, 'failed' | 'answered'>
}

/** Milliseconds between two attempts. The pause doubles after each attempt, up to the maximum. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
/** Error replies of Redis, and a client's message, that waiting does not fix: logins, SELECT, missing TLS. */
const REPLIES =
  /^(?:WRONGPASS|NOAUTH|NOPERM|DENIED|ERR (?:AUTH|Client sent AUTH|invalid password|invalid DB index|DB index|SELECT is not allowed))|does not support SSL/
/** SQLSTATEs that waiting does not fix: login, database, schema, permissions, missing or changed tables. */
const STATES = /^(?:28\w{3}|3D000|3F000|42\w{3}|SL001)$/
/** Codes of TLS errors that waiting does not fix: untrusted certificates, and servers without TLS. */
const TLS = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/**
 * An unreachable store is retried without end; meanwhile the policy's onStoreFailure decides.
 * @throws CommandFailure exit 3 for an invalid URL; exit 2 if the server refuses this service, or if a required store cannot be reached
 */
export async function openServing(url: string, { policyFile, required, log, health }: ServingOptions): Promise<OpenStore> {
  const place = policyFile === undefined ? {} : { folder: dirname(policyFile) }
  const { opened, reach, failureOf } = await prepareStore(url, place)
  const advise = async (): Promise<void> => {
    for (const line of (await opened.advise?.()) ?? []) log('warn', 'store-setting', `store ${opened.name} ${line}`, { store: opened.name })
  }
  try {
    await reach()
    await advise()
    return opened
  } catch (error) {
    const failure = failureOf(error)
    if (required || isSetupError(error)) {
      await opened.close()
      throw failure
    }
    health.failed(error instanceof StoreFailure ? error.kind : 'connection', messageOf(error))
  }
  let refusal: string | undefined
  const failed = (error: unknown): void => {
    const reason = isSetupError(error) ? failureOf(error).message : undefined
    if (reason !== undefined && reason !== refusal) log('warn', 'store-refused', `${reason}; trying again`, { store: opened.name })
    refusal = reason
  }
  const reached = (): Promise<void> => {
    health.answered()
    return advise()
  }
  const closing = new AbortController()
  retry(reach, failed, closing.signal).then(reached, () => {})
  return {
    ...opened,
    async close() {
      closing.abort()
      await opened.close()
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function retry(reach: () => Promise<void>, onFailure: (error: unknown) => void, signal: AbortSignal) {
  for (let ms = MIN_PAUSE_MS; ; ms = Math.min(MAX_PAUSE_MS, 2 * ms)) {
    await pause(ms, undefined, { signal })
    try {
      await reach()
      return signal.throwIfAborted()
    } catch (error) {
      signal.throwIfAborted()
      onFailure(error)
    }
  }
}

/** A configuration error, which waiting does not fix. */
function isSetupError(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.kind === 'setup'
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return REPLIES.test(error.message) || STATES.test(code) || TLS.test(code)
}
