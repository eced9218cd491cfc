import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreFailure } from 'sluice'
import { type Io, warningTo } from '../cli/io.ts'
import { prepareStore } from './open-store.ts'
import type { OpenStore } from './opening.ts'

export interface ServingOptions {
  /** The policy file, if the URL comes from it: relative file names in the URL then start at its folder. */
  readonly policyFile?: string | undefined
  readonly required: boolean
  /** Whether this process prints what all processes observe. */
  readonly speaks: boolean
  readonly io: Io
}

/** Pauses between attempts to reach a store; they double. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
/** First words of replies to a login or to SELECT that waiting does not fix. */
const REPLIES =
  /^(?:WRONGPASS|NOAUTH|NOPERM|DENIED|ERR (?:AUTH|Client sent AUTH|invalid password|invalid DB index|DB index|SELECT is not allowed))/
/** SQLSTATE: login, database, schema, permissions, missing or changed tables. */
const STATES = /^(?:28\w{3}|3D000|3F000|42\w{3}|SL001)$/
/** Untrusted certificates, and servers without TLS. */
const TLS = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/**
 * Opens the store of a service. An unreachable store is reported and retried without end, and the policy's onStoreFailure decides
 * meanwhile. For a store that is reached it prints the warnings about the server's settings.
 * @throws CommandFailure exit 3 for an invalid URL; exit 2 if the server refuses this service, or is required and unreachable
 */
export async function openServing(url: string, options: ServingOptions): Promise<OpenStore> {
  const { policyFile, required, speaks, io } = options
  const place = policyFile === undefined ? {} : { folder: dirname(policyFile) }
  const { opened, reach, failureOf } = await prepareStore(url, place)
  const warn = (line: string): void => (speaks ? warningTo(io)(line) : undefined)
  const advise = async (): Promise<void> => {
    for (const line of (await opened.advise?.()) ?? []) warn(`store ${opened.name} ${line}`)
  }
  const unreached = await reach().then(
    () => undefined,
    (error: unknown) => ({ error, failure: failureOf(error) }),
  )
  if (unreached === undefined) {
    await advise()
    return opened
  }
  if (required || isSetupError(unreached.error)) {
    await opened.close()
    throw unreached.failure
  }
  warn(`${unreached.failure.message}; serving without it, and trying again`)
  let refusal: string | undefined
  const failed = (error: unknown): void => {
    const reason = isSetupError(error) ? failureOf(error).message : undefined
    if (reason !== undefined && reason !== refusal) warn(`${reason}; trying again`)
    refusal = reason
  }
  const reached = (): Promise<void> => {
    if (speaks) io.out(`sluice: store ${opened.name} is reached\n`)
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

/** Whether a store answers but refuses this service: a configuration error, which waiting does not fix. */
function isSetupError(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.kind === 'setup'
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return REPLIES.test(error.message) || STATES.test(code) || TLS.test(code) || /does not support SSL/.test(error.message)
}
