import type { Policy } from 'sluice/policy'
import { type WatchedFile, watchFile } from '../files/watch-file.ts'
import { tokenWarning } from '../identity/token-warnings.ts'
import { counted } from '../logs/counted.ts'
import type { Log } from '../logs/log.ts'
import { type HeldPolicy, inOneLine } from './held-policy.ts'
import { mapInSlices } from './in-slices.ts'
import { isTextAtFault, NotParsed } from './parse-elsewhere.ts'
import { type PolicySource, readPolicySource } from './read-policy.ts'

type Replace = HeldPolicy['replace']

const PUT = 'PUT /v1/policy'

/**
 * A bad file changes nothing.
 * @param text of the file as last read
 * @param loaded how many policies were taken
 */
export function reloading(replace: Replace, loaded: () => number, file: string, text: string, log: Log): WatchedFile {
  const refusal = createRefusal(loaded)
  const refused = (error: unknown): void => logRefused(log, file, inOneLine(error))
  return watchFile<PolicySource>(file, text, {
    read(name) {
      try {
        return readPolicySource(name)
      } catch (error) {
        throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error })
      }
    },
    async changed(next, always) {
      if (!always && refusal.isOutdated(next)) return
      try {
        const policy = await replace({ text: next, filename: file })
        await logTaken(log, file, policy)
      } catch (error) {
        if (!isTextAtFault(error)) {
          refusal.note(next, error, always)
          // `watchFile` reads the file again later.
          throw error
        }
        refused(error)
      }
    },
    unreadable: refused,
  })
}

/**
 * A policy that was refused for a reason outside its text is tried again, but not after a later policy was taken: the older would replace it.
 */
export function createRefusal(loaded: () => number) {
  let refused: { readonly text: string; readonly loaded: number } | undefined
  return {
    isOutdated(text: PolicySource) {
      // After another text, this one is new again.
      if (refused?.text !== String(text)) refused = undefined
      return refused !== undefined && refused.loaded !== loaded()
    },
    /** @param always whether an older refusal of this text no longer counts */
    note(text: PolicySource, error: unknown, always: boolean) {
      // While too many policies are being read, it has had no turn.
      if (error instanceof NotParsed || (refused?.text === String(text) && !always)) return
      refused = { text: String(text), loaded: loaded() }
    },
  }
}

export function replacingByPut(replace: Replace, log: Log): Replace {
  return async (candidate) => {
    try {
      const policy = await replace(candidate)
      await logTaken(log, PUT, policy)
      return policy
    } catch (error) {
      logRefused(log, PUT, inOneLine(error))
      throw error
    }
  }
}

/** In slices: a policy may have thousands of rules. */
export async function logWarnings(policy: Policy, log: Log): Promise<void> {
  const ofTokens = await mapInSlices(policy.rules, (rule) => tokenWarning(policy, rule))
  const lines = [...policy.warnings, ...ofTokens.filter((line) => line !== undefined)]
  await mapInSlices(lines, (line) => log('warn', 'policy-warning', line))
}

export async function logTaken(log: Log, source: string, policy: Policy): Promise<void> {
  await logWarnings(policy, log)
  const { rules, hash, dialect } = policy
  log('info', 'policy-taken', `policy taken from ${source}: ${counted(rules.length, 'rule')}, hash ${hash}`, {
    source,
    rules: rules.length,
    hash,
    dialect,
  })
}

export function logRefused(log: Log, source: string, reason: string): void {
  log('warn', 'policy-refused', `policy refused, the present one stays: ${reason}`, { source, reason })
}
