import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LimiterError } from 'sluice'

const MAX_FILE_BYTES = 1_048_576
const ALLOWED = `a regular file of at most ${MAX_FILE_BYTES} bytes`
/** Bytes: the output length of HMAC-SHA-256. A shorter secret would be easier to guess than the hash. */
const MIN_SECRET_BYTES = 32

export interface ReadOptions {
  /** Also reads a pipe, such as `/dev/stdin`, and waits for its end. A running service does not set this, because it must not wait. */
  readonly pipes?: boolean
}

/**
 * Reads a regular file of at most 1 MiB without waiting: a FIFO would block the process, and a device never ends.
 * @throws Error that says what the file is and what is allowed, or the system's reason
 */
export function readRegular(file: string, { pipes = false }: ReadOptions = {}): Buffer {
  const descriptor = openSync(file, pipes ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile() && !(pipes && found.isFIFO())) throw new Error(`it is ${kindOf(found)}; expected ${ALLOWED}`)
    return contentsOf(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

type Failure = (message: string, options: ErrorOptions) => Error

/** As `readRegular`, but throws the error that `failure` returns for a message. The message begins with `what`. */
export function readAs(what: string, file: string, failure: Failure, options?: ReadOptions): Buffer {
  try {
    return readRegular(file, options)
  } catch (error) {
    throw failure(`${what} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Reads a file that a policy names, by a path relative to the policy's folder.
 * @throws LimiterError INVALID_POLICY for a file that cannot be read: missing, not a regular file, or larger than 1 MiB
 */
export function readNamed(policyFile: string, name: string, what: string): Buffer {
  return readAs(`${what} ${name}`, resolve(dirname(policyFile), name), invalidPolicy)
}

/**
 * As `readNamed`, for a secret; one line break at the end is not part of it.
 * @throws LimiterError INVALID_POLICY also for less than 32 bytes; the message never shows the content
 */
export function readSecret(policyFile: string, name: string, what: string): Uint8Array {
  const bytes = readNamed(policyFile, name, what)
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length
  const secret = bytes.subarray(0, end)
  if (secret.length >= MIN_SECRET_BYTES) return secret
  throw invalidPolicy(`${what} ${name} holds ${secret.length} bytes: expected at least ${MIN_SECRET_BYTES}`)
}

/** A mistake in a policy, or in a file that it names. */
export function invalidPolicy(message: string, options?: ErrorOptions): LimiterError {
  return new LimiterError('INVALID_POLICY', message, options)
}

/** Reads to the end of the file, whatever its reported size: system files report size 0, and other files may grow meanwhile. */
function contentsOf(descriptor: number): Buffer {
  const parts: Buffer[] = []
  let size = 0
  for (;;) {
    const part = Buffer.allocUnsafe(65_536)
    const length = readSync(descriptor, part)
    if (length === 0) return Buffer.concat(parts, size)
    size += length
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes; expected ${ALLOWED}`)
    parts.push(part.subarray(0, length))
  }
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  return found.isCharacterDevice() || found.isBlockDevice() ? 'a device' : 'no file'
}
