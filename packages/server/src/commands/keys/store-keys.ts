import { LimiterError, StoreFailure } from 'sluice'
import { createEngine, type KeyState, type KeyTarget } from 'sluice/policy'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { createIdentities } from '../../identity/identities.ts'
import { readPolicy } from '../../policy/read-policy.ts'
import { openStore } from '../../stores/open-store.ts'

/** Access to the states of keys, in a running service or in a store. Its methods reject with CommandFailure. */
export interface KeyAccess {
  /** Printable, without a password. */
  readonly name: string
  inspect(target: KeyTarget): Promise<readonly KeyState[]>
  reset(target: KeyTarget): Promise<void>
  /** Blocks a key for `duration` milliseconds; null lifts the block. */
  block(target: KeyTarget, duration: number | null): Promise<void>
  close(): Promise<void>
}

/** Deadline of a call: a person waits longer than a request. */
const WAIT = { deadlineMs: 5_000 }

/** The states of a store, addressed by the rules of a policy. */
export async function storeKeys(url: string, policyFile: string): Promise<KeyAccess> {
  const policy = readPolicy(policyFile)
  const { pseudonym } = await createIdentities(policyFile, policy, () => {})
  const { store, name, close } = await openStore(url)
  const engine = createEngine({ policy, store, pseudonym })
  const orFailure = (error: unknown): never => {
    if (error instanceof StoreFailure) throw new CommandFailure(EXIT.unreachable, `store ${name}: ${error.message}`, { cause: error })
    if (!(error instanceof LimiterError)) throw error
    throw new CommandFailure(error.code === 'NOT_SUPPORTED' ? EXIT.failed : EXIT.usage, error.message, { cause: error })
  }
  return {
    name,
    inspect: (target) => engine.inspectKey(target, WAIT).catch(orFailure),
    reset: (target) => engine.resetKey(target, WAIT).catch(orFailure),
    block: (target, duration) => engine.blockKey(target, duration, WAIT).catch(orFailure),
    async close() {
      await engine.close()
      await close()
    },
  }
}
