import { onTestFinished } from 'vitest'
import { type RegionalStore, regionalStore, replicate, type Replicator } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { type PolicyBench, policyBench, policyOf } from './choosing-page.ts'

const STEP_MS = 50

/**
 * The two regions of the page's policy, built as a service builds them, with their replicators. They share a manual
 * clock, and the seed chooses the replicators' waits.
 */
export function bothRegions(seed = 7) {
  const clock = manualClock()
  const random = seeded(seed)
  const { regions } = policyOf('two-regions.yaml')
  const names = regions?.peers.map(({ name }) => name) ?? []
  const replicators = new Map<string, Replicator>()
  let isCut = false
  const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
  const start = (self: string): { readonly store: RegionalStore; readonly bench: PolicyBench } => {
    const peers = names.filter((name) => name !== self)
    const store = regionalStore({ store: memoryStore({ clock }), self, peers, ...(regions && { mode: regions.mode }) })
    const replicator = replicate({
      store,
      clock,
      random,
      async transport(peer, request) {
        if (isCut) throw new Error('the link is cut')
        return copy(await replicators.get(peer)?.answer(copy(request)))
      },
    })
    replicators.set(self, replicator)
    onTestFinished(() => replicator.close())
    return { store, bench: policyBench('two-regions.yaml', undefined, undefined, { clock, store }) }
  }
  const [eu, us] = names.map(start)
  if (eu === undefined || us === undefined) throw new Error('the policy names two regions')
  const pass = async (ms: number, each: () => Promise<void> = async () => {}): Promise<void> => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      clock.advance(STEP_MS)
      await each()
      // All promises that became ready go on.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return {
    eu: eu.bench,
    us: us.bench,
    pass,
    cut: (cut: boolean) => void (isCut = cut),
    async open() {
      while (eu.store.phase !== 'open' || us.store.phase !== 'open') await pass(STEP_MS)
    },
  }
}
