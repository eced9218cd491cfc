import { startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'
import type { LaneInput, LanePlace } from './lane-input.ts'
import type { Batch } from './rounds.ts'
import type { Sample, SampledLane } from './samples.ts'

export interface RemoteLane extends SampledLane {
  close(): Promise<void>
}

/** Opens a lane (a measured limiter) in a process of its own. Every call rejects if the process has ended. */
export async function openLane(lane: LaneInput, place: LanePlace, { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<RemoteLane> {
  const { hello, invoke, kill } = await startOrdered('lane-process.js', import.meta.url, { lane, place }, { atEnd })
  return {
    name: String(hello),
    callers: lane.callers,
    warmUp: async () => void (await invoke('warm-up')),
    batch: async () => (await invoke('batch')) as Batch,
    sample: async () => (await invoke('sample')) as Sample,
    close: async () => {
      await invoke('close')
      kill()
    },
  }
}
