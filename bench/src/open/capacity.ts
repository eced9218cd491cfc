import type { Target } from './open-loop.ts'

/**
 * Decisions a second with as many requests under way as there are callers, for `ms` milliseconds. The event loop is turned without a pause
 * and each turn makes one request at most, as the arrivals of an open loop are made: what that takes is part of the capacity.
 */
export function capacityOf({ invoke, passed }: Target, callers: number, ms: number): Promise<number> {
  let [issued, underWay, decided] = [0, 0, 0]
  const started = performance.now()
  return new Promise((resolve) => {
    const settle = (decide: () => boolean): void => {
      underWay -= 1
      try {
        decide()
        decided += 1
      } catch {
        // Undecided: it took its time, and is no decision.
      }
    }
    const fail = (): void => void (underWay -= 1)
    const turn = (): void => {
      const elapsed = performance.now() - started
      if (elapsed < ms) {
        if (underWay < callers) {
          underWay += 1
          issued += 1
          invoke(issued).then((answer) => settle(() => passed(answer)), fail)
        }
      } else if (underWay === 0) return resolve((decided / elapsed) * 1_000)
      setImmediate(turn)
    }
    turn()
  })
}
