import { dirname, resolve } from 'node:path'
import { LimiterError } from 'sluice'
import { readRegular } from './regular-file.ts'

/** As many as HMAC-SHA-256 has of its own: a shorter secret is what an attacker would guess instead. */
const MIN_BYTES = 32

/**
 * The bytes of a secret that a policy names, by a path from the policy's own folder; one line break at the end is not part of it.
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or holds less than 32 bytes; it never shows what is in it
 */
export function readSecret(policyFile: string, name: string, what: string): Uint8Array {
  const bytes = readNamed(policyFile, name, what)
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length
  const secret = bytes.subarray(0, end)
  if (secret.length >= MIN_BYTES) return secret
  throw new LimiterError('INVALID_POLICY', `${what} ${name} holds ${secret.length} bytes: expected at least ${MIN_BYTES}`)
}

/** @throws LimiterError INVALID_POLICY for a file that cannot be read: missing, not a regular file, or larger than 1 MiB */
export function readNamed(policyFile: string, name: string, what: string): Uint8Array {
  try {
    return readRegular(resolve(dirname(policyFile), name))
  } catch (error) {
    throw new LimiterError('INVALID_POLICY', `${what} ${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
