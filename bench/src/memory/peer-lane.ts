import { startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'
import type { Batch, LaneHandle } from '../redis/rounds.ts'
import type { ContestantName } from './contestants/all.ts'
import type { PeerInput } from './peer-process.ts'
import type { Verdicts } from './plays.ts'

export interface PeerLane extends LaneHandle {
  readonly contestant: ContestantName
  /** Ends the process, and returns its wrong answers. */
  close(): Promise<Verdicts>
}

/** Opens a contestant under a load, in a process of its own. */
export async function openPeer(
  contestant: ContestantName,
  input: Omit<PeerInput, 'contestant'>,
  { atEnd }: Pick<PartOptions, 'atEnd'>,
): Promise<PeerLane> {
  const order: PeerInput = { ...input, contestant }
  const { hello, invoke, kill } = await startOrdered('peer-process.js', import.meta.url, order, { atEnd })
  return {
    contestant,
    name: String(hello),
    callers: 1,
    warmUp: async () => void (await invoke('warm-up')),
    batch: async () => (await invoke('batch')) as Batch,
    close: async () => {
      const verdicts = (await invoke('close')) as Verdicts
      kill()
      return verdicts
    },
  }
}
