import { LimiterError } from 'sluice'
import { type Policy, PolicyError } from 'sluice/policy'
import { Refusal } from '../http/answer.ts'
import { withoutPassword } from '../stores/store-name.ts'
import { NotParsed, parseElsewhere } from './parse-elsewhere.ts'
import type { Candidate } from './read-policy.ts'

/** The policy in use. A valid candidate replaces it as a whole; an invalid one changes nothing. */
export interface HeldPolicy {
  readonly current: Policy
  /** Candidates that were refused. */
  readonly rejected: number
  /** Candidates that were accepted, including the first policy. */
  readonly loaded: number
  /**
   * Parses, checks and swaps in a candidate, off the main thread; candidates are handled one after another. Decisions under way end with
   * the policy they began with. Rejects with a PolicyError that lists every mistake, or with a Refusal: 409 for another store than the
   * one in use, 503 if the candidate cannot be read now.
   */
  replace(candidate: Candidate): Promise<Policy>
}

/** Bounded, because each waiting candidate may be as long as a policy can be. */
const MAX_WAITING = 8

/**
 * @param store URL of the store in use if the policy chose it: a candidate may not choose another; undefined if the command chose it
 * @param apply puts a policy in use
 * @param parse parses a candidate; default: in another thread
 */
export function holdPolicy(
  first: Policy,
  store: string | undefined,
  apply: (policy: Policy) => Promise<void>,
  parse: (candidate: Candidate) => Promise<Policy> = parseElsewhere,
): HeldPolicy {
  let waiting = 0
  let before: Promise<unknown> = Promise.resolve()
  const take = async (candidate: Candidate): Promise<Policy> => {
    try {
      const policy = await parse(candidate)
      refuseOtherStore(policy, store, candidate.filename)
      await apply(policy)
      held.current = policy
      held.loaded += 1
      return policy
    } catch (error) {
      if (!(error instanceof NotParsed)) held.rejected += 1
      throw error
    } finally {
      waiting -= 1
    }
  }
  const held = {
    current: first,
    rejected: 0,
    loaded: 1,
    replace(candidate: Candidate): Promise<Policy> {
      if (waiting >= MAX_WAITING) return Promise.reject(new NotParsed(`${waiting} policies are being read already`))
      waiting += 1
      const taken = before.then(() => take(candidate))
      before = taken.catch(() => undefined)
      return taken
    },
  }
  return held
}

function refuseOtherStore(policy: Policy, store: string | undefined, filename: string): void {
  const wanted = policy.store ?? 'memory:'
  if (store === undefined || wanted === store) return
  const [before, after] = [withoutPassword(store), withoutPassword(wanted)]
  const change = before === after ? `the store ${after} has another password or query` : `it names the store ${after}`
  throw new Refusal(409, `${filename}: ${change}, and ${before} is in use: another store needs a restart`)
}

export function inOneLine(error: unknown): string {
  if (error instanceof PolicyError) {
    const [first, ...more] = error.message.split('\n')
    return more.length === 0 ? (first as string) : `${first} (and ${more.length} more)`
  }
  if (error instanceof Refusal || error instanceof LimiterError) return error.message.replace(/\s+/g, ' ')
  return error instanceof Error ? `${error.name}: ${error.message}`.replace(/\s+/g, ' ') : String(error)
}
