import { EventEmitter } from 'node:events'
import type { Worker } from 'node:cluster'
import { expect, test, vi } from 'vitest'
import type { ToWorker } from '../src/workers/messages.ts'
import { createGathering } from '../src/workers/gathering.ts'
import { sumMetrics } from '../src/workers/sum-metrics.ts'

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

test.each(['before', 'after'])('a worker that ends %s it has reported at a scrape is counted once, then and later', (when) => {
  vi.useFakeTimers()
  try {
    const [one, victim, slow] = [fake(1), fake(2), fake(3)]
    const gathering = createGathering(() => 0)
    const scrape = (serving: readonly Fake[], during: (report: (from: Fake, value: number) => void) => void): number => {
      const before = one.sent.length
      const workers = serving.map(({ worker }) => worker)
      gathering.gather(one.worker, 7, 'metrics', workers, 3)
      const request = one.sent[before] as Extract<ToWorker, { kind: 'report' }>
      during(({ worker }, value) => gathering.reported(worker, request.id, counter(value)))
      vi.advanceTimersByTime(1_000)
      const { reports } = one.sent.at(-1) as Extract<ToWorker, { kind: 'gathered' }>
      return [...sumMetrics(reports as string[]).matchAll(/^c (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0)
    }
    const all = [one, victim, slow]
    expect(scrape(all, (report) => all.forEach((each) => report(each, 100)))).toBe(300)
    const ended = scrape(all, (report) => {
      report(one, 100)
      if (when === 'after') report(victim, 100)
      gathering.ended(victim.worker)
    })
    expect(ended).toBe(300)
    expect(scrape([one, slow], (report) => [one, slow].forEach((each) => report(each, 100)))).toBe(300)
  } finally {
    vi.useRealTimers()
  }
})
