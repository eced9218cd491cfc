import { isUtf8 } from 'node:buffer'
import { LimiterError } from 'sluice'
import { parsePolicy, type Policy } from 'sluice/policy'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import { type ReadOptions, readRegular } from '../files/regular-file.ts'

/** A policy's text, or its bytes if they are not UTF-8: the parser then reports where. */
export type PolicySource = string | Uint8Array

/**
 * Reads a policy file.
 * @throws Error for a file that cannot be read: missing, not a regular file, or larger than 1 MiB
 */
export function readPolicySource(file: string, options?: ReadOptions): PolicySource {
  const bytes = readRegular(file, options)
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes
}

/**
 * Reads and parses a policy from a file or a pipe, for a command that ends.
 * @throws CommandFailure exit 1 with one line per mistake: file, line, column, value and what is allowed
 */
export function readPolicy(file: string): Policy {
  return readFrom(file, { pipes: true }).policy
}

/** As `readPolicy`, but only from a regular file, because it will be read again. Also returns the text. */
export function readPolicyText(file: string): { readonly policy: Policy; readonly text: string } {
  return readFrom(file)
}

function readFrom(file: string, options?: ReadOptions): { readonly policy: Policy; readonly text: string } {
  let text: PolicySource
  try {
    text = readPolicySource(file, options)
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `policy ${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  try {
    // The parser refuses bytes that are not text, so the cast below is safe.
    return { policy: parsePolicy(text, { filename: file }), text: text as string }
  } catch (error) {
    if (error instanceof LimiterError) throw new CommandFailure(EXIT.failed, error.message, { cause: error })
    throw error
  }
}
