import { isUtf8 } from 'node:buffer'
import { LimiterError } from 'sluice'
import { parsePolicy, type Policy } from 'sluice/policy'
import { failed } from '../cli/failure.ts'
import { readAs, type ReadOptions, readRegular } from '../files/regular-file.ts'

/** Bytes if the text is not UTF-8: the parser reports the first wrong byte. */
export type PolicySource = string | Uint8Array

/** A policy text that may replace the current policy. */
export interface Candidate {
  /** Bytes that are not UTF-8 are rejected. */
  readonly text: PolicySource
  readonly filename: string
  readonly format?: 'yaml' | 'json'
  /** Milliseconds since 1970 when another process began to read the text, which it accepted. A bundle that has expired since is accepted. */
  readonly acceptedAt?: number
}

/** @throws Error for a file that is missing, not regular, or larger than 1 MiB */
export function readPolicySource(file: string): PolicySource {
  return sourceOf(readRegular(file))
}

/**
 * Pipes are only for commands that end: a service reads the file again.
 * @throws CommandFailure exit 1 with one line per mistake: file, line, column, value and what is allowed
 */
export function readPolicyText(file: string, options?: ReadOptions): { readonly policy: Policy; readonly text: string } {
  const text = sourceOf(readAs(`policy ${file}`, file, failed, options))
  // The parser refuses bytes that are not text, so the cast below is safe.
  return { policy: parseCandidate({ text, filename: file }), text: text as string }
}

/** @throws CommandFailure exit 1 as `readPolicyText` does */
export function parseCandidate({ text, filename, format, acceptedAt }: Candidate): Policy {
  try {
    return parsePolicy(text, { filename, format, now: acceptedAt })
  } catch (error) {
    if (error instanceof LimiterError) throw failed(error.message, { cause: error })
    throw error
  }
}

function sourceOf(bytes: Buffer): PolicySource {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes
}
