import { LimiterError } from 'sluice'
import { type Policy, PolicyError } from 'sluice/policy'
import { Refusal } from './answer.ts'
import { NotParsed, parseElsewhere } from './parsing/parse-elsewhere.ts'
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
   * Reads, checks and swaps in a candidate, beside the loop that decides; several one after the other. Decisions under way end by the policy
   * they began with. Rejects with a PolicyError with every mistake, a Refusal 409 for another store than the one in use, or 503 where it
   * cannot be read now.
   */
  replace(candidate: Candidate): Promise<Policy>
}

/** Each of them may be as long as a policy can be. */
const MAX_WAITING = 8

/**
 * @param store URL of the store in use where the policy chooses it: a candidate may not choose another; undefined where the command chose it
 * @param apply makes a policy the one that decides
 * @param parse reads a candidate; default: in another thread
 */
export function holdPolicy(
  first: Policy,
  store: string | undefined,
  apply: (policy: Policy) => Promise<void>,
  parse: (candidate: Candidate) => Promise<Policy> = parseElsewhere,
): HeldPolicy {
  let current = first
  let [rejected, loaded, waiting] = [0, 1, 0]
  let before: Promise<unknown> = Promise.resolve()
  const take = async (candidate: Candidate): Promise<Policy> => {
    try {
      const policy = await parse(candidate)
      refuseOtherStore(policy, store, candidate.filename)
      await apply(policy)
      current = policy
      loaded += 1
      return policy
    } catch (error) {
      if (!(error instanceof NotParsed)) rejected += 1
      throw error
    } finally {
      waiting -= 1
    }
  }
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
    replace(candidate) {
      if (waiting >= MAX_WAITING) return Promise.reject(new NotParsed(`${waiting} policies are being read already`))
      waiting += 1
      const taken = before.then(() => take(candidate))
      before = taken.catch(() => undefined)
      return taken
    },
  }
}

function refuseOtherStore(policy: Policy, store: string | undefined, filename: string): void {
  const asked = policy.store ?? 'memory:'
  if (store === undefined || asked === store) return
  const [before, after] = [withoutPassword(store), withoutPassword(asked)]
  const change = before === after ? `the store ${after} is asked for with another password or query` : `it asks for the store ${after}`
  throw new Refusal(409, 'Conflict', `${filename}: ${change}, and ${before} is in use: another store needs a restart`)
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
