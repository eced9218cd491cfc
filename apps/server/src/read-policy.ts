import { readFileSync } from 'node:fs'
import { LimiterError } from 'sluice'
import { parsePolicy, type Policy } from 'sluice/policy'
import { CommandFailure, EXIT } from './failure.ts'

/**
 * Reads and parses a policy file.
 * @throws CommandFailure exit 1 with one line per mistake: file, line, column, value and what is allowed
 */
export function readPolicy(file: string): Policy {
  return readPolicyText(file).policy
}

/** As `readPolicy`, with the text that was read. */
export function readPolicyText(file: string): { readonly policy: Policy; readonly text: string } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `policy ${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  try {
    return { policy: parsePolicy(text, { filename: file }), text }
  } catch (error) {
    if (error instanceof LimiterError) throw new CommandFailure(EXIT.failed, error.message, { cause: error })
    throw error
  }
}
