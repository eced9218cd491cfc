import { dirname } from 'node:path'
import type { Io } from '../io.ts'
import { warningTo } from '../say-each-minute.ts'
import { beginStore, openStore } from './open-store.ts'
import type { OpenStore } from './opening.ts'

export interface ServingOptions {
  /** The policy's file where the URL stands in it: the files that a URL names are looked for beside it. */
  readonly policyFile?: string | undefined
  /** Whether a store that is away is a failure. */
  readonly required: boolean
  /** Whether this process says what all of them see. */
  readonly speaks: boolean
  readonly io: Io
}

/**
 * Opens the store of a service. One that is away is said and tried again, and the policy's onStoreFailure decides meanwhile; one that is
 * reached is asked whether it is fit for limits.
 * @throws CommandFailure exit 3 for a URL that is none, exit 2 where the server refuses this service, or is away and required
 */
export async function openServing(url: string, { policyFile, required, speaks, io }: ServingOptions): Promise<OpenStore> {
  const place = policyFile === undefined ? {} : { folder: dirname(policyFile) }
  const warn = (line: string): void => (speaks ? warningTo(io)(line) : undefined)
  const advise = async ({ name, advise: ask }: OpenStore): Promise<void> => {
    for (const line of (await ask?.()) ?? []) warn(`store ${name} ${line}`)
  }
  if (required) {
    const opened = await openStore(url, place)
    await advise(opened)
    return opened
  }
  const onReached = (): void => {
    if (speaks) io.out(`sluice: store ${begun.name} is reached\n`)
    void advise(begun)
  }
  const onRefused = (reason: string): void => warn(`${reason}; trying again`)
  const begun = await beginStore(url, { ...place, onReached, onRefused })
  if (begun.away === undefined) await advise(begun)
  else warn(`${begun.away}; serving without it, and trying again`)
  return begun
}
