import type { Policy } from 'sluice/policy'
import type { Io } from '../cli/io.ts'
import { inOneLine, type HeldPolicy } from './held-policy.ts'
import { NotParsed } from './parse-elsewhere.ts'
import { type PolicySource, readPolicySource } from './read-policy.ts'
import { type WatchedFile, watchFile } from '../files/watch-file.ts'

export interface Reloading {
  readonly replace: HeldPolicy['replace']
  readonly file: string
  /** The text of the file as last read. */
  readonly text: string
  /** Whether this process prints what happens. */
  readonly says: boolean
  /** Prints the warnings of a policy. */
  readonly warn: (policy: Policy) => Promise<void>
  readonly io: Io
}

/** Loads the policy file whenever it changes, and at SIGHUP. A bad file is reported in one line and changes nothing. */
export function reloading({ replace, file, text, says, warn, io }: Reloading): WatchedFile {
  const refused = (error: unknown): void => {
    if (says) io.err(`sluice: the policy stays as it is: ${inOneLine(error)}\n`)
  }
  return watchFile<PolicySource>(file, text, {
    read: readPolicySource,
    async changed(next) {
      try {
        const found = await replace({ text: next, filename: file })
        if (!says) return
        await warn(found)
        io.out(`sluice: policy ${file} was read again: ${found.rules.length} rules, hash ${found.hash}\n`)
      } catch (error) {
        // The file is not at fault, so it is tried again.
        if (error instanceof NotParsed) throw error
        refused(error)
      }
    },
    unreadable: (error) => refused(error instanceof NotParsed ? error : new Error(`${file} cannot be read: ${error.message}`)),
  })
}
