import { dirname, resolve } from 'node:path'
import { LimiterError } from 'sluice'
import { readRegular } from './regular-file.ts'

/** The output length of HMAC-SHA-256: a shorter secret would be easier to guess than the hash. */
const MIN_BYTES = 32

/**
 * Reads a secret that a policy names, by a path relative to the policy's folder; one line break at the end is not part of it.
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or holds less than 32 bytes; the message never shows its content
 */
export function readSecret(policyFile: string, name: string, what: string): Uint8Array {
  const bytes = readNamed(policyFile, name, what)
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length
  const secret = bytes.subarray(0, end)
  if (secret.length >= MIN_BYTES) return secret
  throw new LimiterError('INVALID_POLICY', `${what} ${name} holds ${secret.length} bytes: expected at least ${MIN_BYTES}`)
}

/**
 * Reads a file that a policy names.
 * @throws LimiterError INVALID_POLICY for a file that cannot be read: missing, not a regular file, or larger than 1 MiB
 */
export function readNamed(policyFile: string, name: string, what: string): Uint8Array {
  try {
    return readRegular(resolve(dirname(policyFile), name))
  } catch (error) {
    throw new LimiterError('INVALID_POLICY', `${what} ${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
