import { LimiterError } from 'sluice'
import { type Policy, PolicyError } from 'sluice/policy'
import { Refusal } from '../http/answer.ts'
import { withoutPassword } from '../stores/store-name.ts'
import { NotParsed, parseElsewhere } from './parse-elsewhere.ts'
import { sameRegions } from './region-facts.ts'
import type { Candidate } from './read-policy.ts'

export type HeldPolicy = Readonly<ReturnType<typeof holdPolicy>>

/** At most this many candidates wait, because each may be large. */
const MAX_WAITING = 8

/**
 * A valid policy replaces the current one as a whole.
 * @param store URL of the store in use, which a new policy must name; undefined if the command line chose the store
 * @param parse default: in another thread
 */
export function holdPolicy(
  first: Policy,
  store: string | undefined,
  apply: (policy: Policy) => Promise<void>,
  parse: (candidate: Candidate) => Promise<Policy> = parseElsewhere,
) {
  let waiting = 0
  let before: Promise<unknown> = Promise.resolve()
  const take = async (candidate: Candidate): Promise<Policy> => {
    try {
      const policy = await parse(candidate)
      refuseOtherStore(policy, store, candidate.filename)
      refuseOtherRegions(policy, held.current, candidate.filename)
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
    /** Candidates that were refused. */
    rejected: 0,
    /** Includes the first policy. */
    loaded: 1,
    /**
     * Candidates are handled one after another. Decisions under way end with the policy that they began with.
     * @throws PolicyError with every mistake; LimiterError for a file that cannot be used; Refusal 409 for another store or other regions;
     * Refusal 503 if the candidate cannot be parsed now
     */
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
  const change = before === after ? `the store ${after} has another login or query` : `it names the store ${after}`
  throw new Refusal(409, `${filename}: ${change}, and ${before} is in use: another store needs a restart`)
}

function refuseOtherRegions(policy: Policy, current: Policy, filename: string): void {
  if (!sameRegions(policy.regions, current.regions))
    throw new Refusal(409, `${filename}: it has other regions than those in use: a change of regions needs a restart`)
}

export function inOneLine(error: unknown): string {
  if (error instanceof PolicyError) {
    const [first, ...more] = error.message.split('\n')
    return more.length === 0 ? (first as string) : `${first} (and ${more.length} more)`
  }
  if (error instanceof Refusal || error instanceof LimiterError) return error.message.replace(/\s+/g, ' ')
  if (!(error instanceof Error)) return String(error)
  // The name of an error's class is shown only if it says something, as TypeError does.
  return `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}`.replace(/\s+/g, ' ')
}
