import { startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'
import type { LaneInput, LanePlace } from './lane-input.ts'
import type { Batch, LaneHandle } from './rounds.ts'

export interface RemoteLane extends LaneHandle {
  close(): Promise<void>
}

/** Opens a lane in a process of its own; every call rejects where that has ended. */
export async function openLane(lane: LaneInput, place: LanePlace, { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<RemoteLane> {
  const { hello, invoke, kill } = await startOrdered('lane-process.js', import.meta.url, { lane, place }, { atEnd })
  return {
    name: String(hello),
    callers: lane.callers,
    warmUp: async () => void (await invoke('warm-up')),
    batch: async () => (await invoke('batch')) as Batch,
    close: async () => {
      await invoke('close')
      kill()
    },
  }
}
