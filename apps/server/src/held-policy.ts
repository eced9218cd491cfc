import { LimiterError } from 'sluice'
import { parsePolicy, type Policy, PolicyError } from 'sluice/policy'
import { Refusal } from './answer.ts'
import { withoutPassword } from './stores/store-name.ts'

/** A text to become the policy. */
export interface Candidate {
  /** Bytes are counted as refused where they are not UTF-8. */
  readonly text: string | Uint8Array
  /** Stands in messages. */
  readonly filename: string
  readonly format?: 'yaml' | 'json'
}

/** The policy at work: replaced as a whole by a good one, and kept where the next is none. */
export interface HeldPolicy {
  readonly current: Policy
  /** Candidates that were refused. */
  readonly rejected: number
  /** Candidates that were taken in, the first included. */
  readonly loaded: number
  /**
   * Reads, checks and swaps in a candidate. Decisions under way end by the policy they began with.
   * @throws PolicyError with every mistake, or Refusal 409 for another store than the one in use
   */
  replace(candidate: Candidate): Policy
}

/**
 * @param store URL of the store in use where the policy chooses it: a candidate may not choose another; undefined where the command chose it
 * @param apply makes a policy the one that decides
 */
export function holdPolicy(first: Policy, store: string | undefined, apply: (policy: Policy) => void): HeldPolicy {
  let current = first
  let [rejected, loaded] = [0, 1]
  return {
    get current() {
      return current
    },
    get rejected() {
      return rejected
    },
    get loaded() {
      return loaded
    },
    replace({ text, filename, format }) {
      try {
        const policy = parsePolicy(text, { filename, ...(format === undefined ? {} : { format }) })
        const asked = policy.store ?? 'memory:'
        if (store !== undefined && asked !== store) {
          const [before, after] = [withoutPassword(store), withoutPassword(asked)]
          const change =
            before === after ? `the store ${after} is asked for with another password or query` : `it asks for the store ${after}`
          throw new Refusal(409, 'Conflict', `${filename}: ${change}, and ${before} is in use: another store needs a restart`)
        }
        apply(policy)
        current = policy
        loaded += 1
        return policy
      } catch (error) {
        rejected += 1
        throw error
      }
    },
  }
}

/** A refused candidate in one line. */
export function inOneLine(error: unknown): string {
  if (error instanceof PolicyError) {
    const [first, ...more] = error.message.split('\n')
    return more.length === 0 ? (first as string) : `${first} (and ${more.length} more)`
  }
  if (error instanceof Refusal || error instanceof LimiterError) return error.message.replace(/\s+/g, ' ')
  return error instanceof Error ? `${error.name}: ${error.message}`.replace(/\s+/g, ' ') : String(error)
}
