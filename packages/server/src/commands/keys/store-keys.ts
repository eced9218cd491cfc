import { LimiterError, StoreFailure } from 'sluice'
import { createEngine, type KeyState, type KeyTarget } from 'sluice/policy'
import { failed, unreachable, usage } from '../../cli/failure.ts'
import { createIdentities } from '../../identity/identities.ts'
import type { PolicyPlace } from '../../policy/policy-place.ts'
import { openStore } from '../../stores/open-store.ts'

/** Methods reject with CommandFailure. */
export interface KeyAccess extends AsyncDisposable {
  /** Printable, without a password. */
  readonly name: string
  inspect(target: KeyTarget): Promise<readonly KeyState[]>
  reset(target: KeyTarget): Promise<void>
  /** Blocks a key for `duration` milliseconds; null lifts the block. */
  block(target: KeyTarget, duration: number | null): Promise<void>
}

/** Replaces the policy's deadline: a person can wait longer than a request. */
const WAIT = { deadlineMs: 5_000 }

export async function storeKeys(url: string, { read, file }: PolicyPlace): Promise<KeyAccess> {
  const { policy } = await read({ pipes: true })
  if (policy.regions !== undefined)
    throw usage('the policy has regions, whose stores hold parts of the limits: address the service of a region with --url')
  const { pseudonym } = await createIdentities(file, policy, () => {})
  const { store, name, close } = await openStore(url)
  const engine = createEngine({ policy, store, pseudonym })
  const orFailure = (error: unknown): never => {
    if (error instanceof StoreFailure) throw unreachable(`store ${name}: ${error.message}`, { cause: error })
    if (!(error instanceof LimiterError)) throw error
    throw (error.code === 'NOT_SUPPORTED' ? failed : usage)(error.message, { cause: error })
  }
  return {
    name,
    inspect: (target) => engine.inspectKey(target, WAIT).catch(orFailure),
    reset: (target) => engine.resetKey(target, WAIT).catch(orFailure),
    block: (target, duration) => engine.blockKey(target, duration, WAIT).catch(orFailure),
    async [Symbol.asyncDispose]() {
      await engine.close()
      await close()
    },
  }
}
