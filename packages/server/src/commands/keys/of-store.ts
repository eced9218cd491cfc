import { LimiterError, StoreFailure } from 'sluice'
import { createEngine } from 'sluice/policy'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { createIdentities } from '../../identity/identities.ts'
import { openStore } from '../../stores/open-store.ts'
import { readPolicy } from '../../policy/read-policy.ts'
import type { KeyHolder } from './key-holder.ts'

/** Deadline of a call: a person waits longer than a request. */
const PATIENCE = { deadlineMs: 5_000 }

/** The states of a store, addressed by the rules of a policy. */
export async function storeHolder(url: string, policyFile: string): Promise<KeyHolder> {
  const policy = readPolicy(policyFile)
  const { pseudonym } = createIdentities(policyFile, policy, () => {})
  const { store, name, close } = await openStore(url)
  const engine = createEngine({ policy, store, pseudonym })
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof StoreFailure) throw new CommandFailure(EXIT.unreachable, `store ${name}: ${error.message}`, { cause: error })
      if (error instanceof LimiterError) {
        const exit = error.code === 'NOT_SUPPORTED' ? EXIT.failed : EXIT.usage
        throw new CommandFailure(exit, error.message, { cause: error })
      }
      throw error
    }
  }
  return {
    name,
    inspect: (target) => told(engine.inspectKey(target, PATIENCE)),
    reset: (target) => told(engine.resetKey(target, PATIENCE)),
    block: (target, duration) => told(engine.blockKey(target, duration, PATIENCE)),
    async close() {
      await engine.close()
      await close()
    },
  }
}
