import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LimiterError } from 'sluice'

const MAX_FILE_BYTES = 1_048_576
const ALLOWED = `a regular file of at most ${MAX_FILE_BYTES} bytes`
/** Bytes: the output length of HMAC-SHA-256. A shorter secret would be easier to guess than the hash. */
const MIN_SECRET_BYTES = 32

export interface ReadOptions {
  /** Also reads a pipe to its end. A running service must not wait for that. */
  readonly pipes?: boolean
}

/**
 * Without `pipes`, reading never waits: a FIFO would block the process, and a device never ends.
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

export function readAs(what: string, file: string, failure: Failure, options?: ReadOptions): Buffer {
  try {
    return readRegular(file, options)
  } catch (error) {
    throw failure(`${what} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** @throws LimiterError INVALID_POLICY for a file that is missing, not regular, or larger than 1 MiB */
export function readNamed(policyFile: string, name: string, what: string): Buffer {
  return readAs(`${what} ${name}`, resolve(dirname(policyFile), name), invalidPolicy)
}

/**
 * One line break at the end is not part of the secret.
 * @throws LimiterError INVALID_POLICY also for less than 32 bytes; the message never shows the content
 */
export function readSecret(policyFile: string, name: string, what: string): Uint8Array {
  const bytes = readNamed(policyFile, name, what)
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length
  const secret = bytes.subarray(0, end)
  if (secret.length >= MIN_SECRET_BYTES) return secret
  throw invalidPolicy(`${what} ${name} holds ${secret.length} bytes: expected at least ${MIN_SECRET_BYTES}`)
}

export function invalidPolicy(message: string, options?: ErrorOptions): LimiterError {
  return new LimiterError('INVALID_POLICY', message, options)
}

/** Ignores the reported size: system files report 0, and other files may grow meanwhile. */
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
