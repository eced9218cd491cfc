import type { Store } from 'sluice'
import { createEngine, parsePolicy } from 'sluice/policy'
import { FREE, type MixedRequest } from './requests.ts'
import type { Quota } from '../contestants/contestant.ts'

/** The three limits as a policy: all of them are charged with one call of the store, or none is. */
function policyOf(wide: Quota): string {
  return [
    'version: 1',
    'rules:',
    `  - { name: global, key: [], ${limitOf(wide)} }`,
    `  - { name: tenant, key: [header:x-tenant], ${limitOf(wide)} }`,
    '  - name: user',
    '    key: [header:x-user]',
    '    tiers:',
    `      - { when: { header:x-plan: [free] }, ${limitOf(FREE)} }`,
    `      - { ${limitOf(wide)} }`,
  ].join('\n')
}

function limitOf({ tokens, per, burst }: Quota): string {
  return `rate: ${tokens}/${per.slice(1)}, burst: ${burst}`
}

export interface MixedEngine {
  decide(request: MixedRequest): Promise<boolean>
  close(): Promise<void>
}

/** Sluice with a policy, over a store that the caller closes. */
export function mixedEngine(store: Store, wide: Quota): MixedEngine {
  const engine = createEngine({ policy: parsePolicy(policyOf(wide)), store })
  return {
    decide: async ({ tenant, user, plan }) => {
      const headers = { 'x-tenant': tenant, 'x-user': user, 'x-plan': plan }
      const { outcome, allowed, degraded } = await engine.decide({ method: 'GET', path: '/items', headers })
      if (outcome === 'undecided') throw new Error(degraded?.message ?? 'undecided')
      return allowed
    },
    close: () => engine.close(),
  }
}
