import { headerLines } from '../identity/headers.ts'
import { type Claims, CLAIMS, type RequestFacts, requireClaims } from '../identity/request.ts'
import type { KeyRequest } from './key-request.ts'

export type Verify = (facts: RequestFacts) => Claims | undefined | Promise<Claims | undefined>

/** Claims that cannot be verified are ignored, whatever the reason. */
export async function claimsOf(verify: Verify | undefined, facts: RequestFacts | KeyRequest): Promise<Claims | undefined> {
  if ('key' in facts) return undefined
  requireClaims(facts.claims)
  if (facts.claims !== undefined && facts.claims !== null) return facts.claims
  try {
    // If there are several Authorization lines, the upstream might read one that is not verified here.
    if (
      verify === undefined ||
      headerLines({ headers: facts.headers, rawHeaders: facts.rawHeaders ?? undefined }, 'authorization').length > 1
    )
      return undefined
    const found = await verify(facts)
    return CLAIMS[0](found) ? found : undefined
  } catch {
    return undefined
  }
}
