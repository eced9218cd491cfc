import { EventEmitter } from 'node:events'
import type { Worker } from 'node:cluster'
import { expect, test, vi } from 'vitest'
import type { ToWorker } from '../src/workers/messages.ts'
import { createGathering } from '../src/workers/gathering.ts'

interface Fake {
  readonly worker: Worker
  readonly sent: ToWorker[]
}

function fake(id: number): Fake {
  const sent: ToWorker[] = []
  const worker = Object.assign(new EventEmitter(), { id, isConnected: () => true, send: (message: ToWorker) => sent.push(message) > 0 })
  return { worker: worker as unknown as Worker, sent }
}

const counter = (value: number): string => `# HELP c A.\n# TYPE c counter\nc ${value}\n# HELP g B.\n# TYPE g gauge\ng ${value}\n`

test('issue 9, item 7: a worker that is late at a scrape does not make counters fall', () => {
  vi.useFakeTimers()
  try {
    const [one, other] = [fake(1), fake(2)]
    const gathering = createGathering(() => 0)
    const scrape = (...telling: readonly (readonly [Fake, number])[]): readonly string[] => {
      const before = one.sent.length
      gathering.gather(one.worker, 7, 'metrics', [one.worker, other.worker], 2)
      const request = one.sent[before] as Extract<ToWorker, { kind: 'report' }>
      for (const [{ worker }, value] of telling) gathering.reported(worker, request.id, counter(value))
      vi.advanceTimersByTime(1_000)
      return (one.sent.at(-1) as Extract<ToWorker, { kind: 'gathered' }>).reports as string[]
    }
    const counted = (answers: readonly string[], name: string): number =>
      answers.flatMap((text) => [...text.matchAll(new RegExp(`^${name} (\\d+)$`, 'gm'))]).reduce((sum, [, value]) => sum + Number(value), 0)
    expect(counted(scrape([one, 5], [other, 3]), 'c')).toBe(8)
    const late = scrape([one, 6])
    // What was measured is gone, what was counted stays counted.
    expect([counted(late, 'c'), counted(late, 'g')]).toEqual([9, 6])
    expect(counted(scrape([one, 7], [other, 4]), 'c')).toBe(11)
  } finally {
    vi.useRealTimers()
  }
})
