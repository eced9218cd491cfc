import { isUtf8 } from 'node:buffer'
import { LimiterError } from 'sluice'
import { parsePolicy, type Policy } from 'sluice/policy'
import { CommandFailure, EXIT } from './failure.ts'
import { type ReadOptions, readRegular } from './regular-file.ts'

/** A policy's text, or its bytes where they are not UTF-8: the parser names the place. */
export type PolicySource = string | Uint8Array

/**
 * What a policy file holds.
 * @throws Error for a file that cannot be read: missing, not a regular file, or larger than 1 MiB
 */
export function readPolicySource(file: string, options?: ReadOptions): PolicySource {
  const bytes = readRegular(file, options)
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes
}

/**
 * Reads and parses a policy file, or what comes through a pipe, for a command that ends.
 * @throws CommandFailure exit 1 with one line per mistake: file, line, column, value and what is allowed
 */
export function readPolicy(file: string): Policy {
  return readFrom(file, { pipes: true }).policy
}

/** As `readPolicy`, of a regular file alone, with the text that was read: it will be read again. */
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
    // Bytes that are no text are refused here.
    return { policy: parsePolicy(text, { filename: file }), text: text as string }
  } catch (error) {
    if (error instanceof LimiterError) throw new CommandFailure(EXIT.failed, error.message, { cause: error })
    throw error
  }
}
