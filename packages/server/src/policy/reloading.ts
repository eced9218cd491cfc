import type { Policy } from 'sluice/policy'
import { type Io, warningTo } from '../cli/io.ts'
import { type WatchedFile, watchFile } from '../files/watch-file.ts'
import { tokenWarning } from '../identity/token-warnings.ts'
import { type HeldPolicy, inOneLine } from './held-policy.ts'
import { mapInSlices } from './in-slices.ts'
import { NotParsed } from './parse-elsewhere.ts'
import { type PolicySource, readPolicySource } from './read-policy.ts'

export interface Reloading {
  readonly replace: HeldPolicy['replace']
  readonly file: string
  /** The text of the file as last read. */
  readonly text: string
  readonly speaks: boolean
  readonly io: Io
}

/** Loads the policy file whenever it changes, and at SIGHUP. A bad file is reported in one line and changes nothing. */
export function reloading({ replace, file, text, speaks, io }: Reloading): WatchedFile {
  const refused = (error: unknown): void => {
    if (speaks) io.err(`sluice: the policy stays as it is: ${inOneLine(error)}\n`)
  }
  return watchFile<PolicySource>(file, text, {
    read: readPolicySource,
    async changed(next) {
      try {
        const found = await replace({ text: next, filename: file })
        if (!speaks) return
        await printWarnings(found, io)
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

/** Prints the warnings of a policy, in slices: a policy may have thousands of rules. */
export async function printWarnings(policy: Policy, io: Io): Promise<void> {
  const ofTokens = await mapInSlices(policy.rules, (rule) => tokenWarning(policy, rule))
  await mapInSlices([...policy.warnings, ...ofTokens.filter((line) => line !== undefined)], warningTo(io))
}
