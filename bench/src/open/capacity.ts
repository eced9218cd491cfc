import type { Target } from './open-loop.ts'

/**
 * Decisions a second with `callers` requests in flight, measured for `ms` milliseconds. As in an open loop, the event loop runs without a
 * pause and each turn makes one request at most, so that the cost of this loop is part of the capacity.
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
        // An undecided request is not counted as a decision.
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
