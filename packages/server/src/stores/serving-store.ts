import { dirname } from 'node:path'
import type { Io } from '../cli/io.ts'
import { warningTo } from '../cli/say-each-minute.ts'
import { beginStore, openStore } from './open-store.ts'
import type { OpenStore } from './opening.ts'

export interface ServingOptions {
  /** The policy file, if the URL comes from it: relative file names in the URL then start at its folder. */
  readonly policyFile?: string | undefined
  /** Whether an unreachable store is a failure. */
  readonly required: boolean
  /** Whether this process prints what all processes observe. */
  readonly speaks: boolean
  readonly io: Io
}

/**
 * Opens the store of a service. An unreachable store is reported and retried, and the policy's onStoreFailure decides meanwhile. For a
 * store that is reached it prints the warnings about the server's settings.
 * @throws CommandFailure exit 3 for an invalid URL; exit 2 if the server refuses this service, or is required and unreachable
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
