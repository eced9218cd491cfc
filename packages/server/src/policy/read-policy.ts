import { isUtf8 } from 'node:buffer'
import { LimiterError } from 'sluice'
import { parsePolicy, type Policy } from 'sluice/policy'
import { failed } from '../cli/failure.ts'
import { readAs, type ReadOptions, readRegular } from '../files/regular-file.ts'

/** A policy's text, or its bytes if they are not UTF-8: the parser then reports where. */
export type PolicySource = string | Uint8Array

/** A policy text that may replace the current policy. */
export interface Candidate {
  /** Bytes that are not UTF-8 count as a rejected candidate. */
  readonly text: PolicySource
  readonly filename: string
  readonly format?: 'yaml' | 'json'
}

/** Reads a policy file. @throws Error for a file that cannot be read: missing, not a regular file, or larger than 1 MiB */
export function readPolicySource(file: string): PolicySource {
  return sourceOf(readRegular(file))
}

/**
 * Reads and parses a policy from a file or a pipe, for a command that ends.
 * @throws CommandFailure exit 1 with one line per mistake: file, line, column, value and what is allowed
 */
export function readPolicy(file: string): Policy {
  return readPolicyText(file, { pipes: true }).policy
}

/** As `readPolicy`, but by default only from a regular file, because it will be read again. Also returns the text. */
export function readPolicyText(file: string, options?: ReadOptions) {
  const text = sourceOf(readAs(`policy ${file}`, file, failed, options))
  try {
    // The parser refuses bytes that are not text, so the cast below is safe.
    return { policy: parsePolicy(text, { filename: file }), text: text as string }
  } catch (error) {
    if (error instanceof LimiterError) throw failed(error.message, { cause: error })
    throw error
  }
}

function sourceOf(bytes: Buffer): PolicySource {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes
}
