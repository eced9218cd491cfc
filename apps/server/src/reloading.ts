import type { Policy } from 'sluice/policy'
import type { Io } from './io.ts'
import { inOneLine, type HeldPolicy } from './held-policy.ts'
import { NotParsed } from './parsing/parse-elsewhere.ts'
import { type PolicySource, readPolicySource } from './read-policy.ts'
import { type WatchedFile, watchFile } from './watch-file.ts'

export interface Reloading {
  readonly policy: Pick<HeldPolicy, 'replace'>
  readonly file: string
  /** What was read of the file before. */
  readonly text: string
  /** Whether this process says on the terminal what happens. */
  readonly says: boolean
  /** Warns of what a policy says. */
  readonly warn: (policy: Policy) => Promise<void>
  readonly io: Io
}

/** Takes in the policy's file whenever it changes, and at SIGHUP; a bad one is told in one line and changes nothing. */
export function reloading({ policy, file, text, says, warn, io }: Reloading): WatchedFile {
  const refused = (error: unknown): void => {
    if (says) io.err(`sluice: the policy stays as it is: ${inOneLine(error)}\n`)
  }
  return watchFile<PolicySource>(file, text, {
    read: readPolicySource,
    async changed(next) {
      try {
        const found = await policy.replace({ text: next, filename: file })
        if (!says) return
        await warn(found)
        io.out(`sluice: policy ${file} was read again: ${found.rules.length} rules, hash ${found.hash}\n`)
      } catch (error) {
        // Nothing is wrong with the file: it is tried again.
        if (error instanceof NotParsed) throw error
        refused(error)
      }
    },
    unreadable: (error) => refused(error instanceof NotParsed ? error : new Error(`${file} cannot be read: ${error.message}`)),
  })
}
