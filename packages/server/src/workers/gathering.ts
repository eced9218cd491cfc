import type { Worker } from 'node:cluster'
import type { Question, ToWorker } from './messages.ts'
import { countersOf, sumMetrics } from './sum-metrics.ts'

/** Collects the answers of all workers for one of them, and keeps the last counters of workers that have ended. */
export interface Gathering {
  /** Sends the worker the answers of all workers, after a second at most. For a late worker it uses the metrics that it last reported. */
  gather(asking: Worker, id: number, question: Question, workers: readonly Worker[], wanted: number): void
  told(worker: Worker, id: number, answer: string): void
  ended(worker: Worker): void
}

const PATIENCE_MS = 1_000

interface Round {
  readonly question: Question
  readonly open: Set<number>
  readonly answers: string[]
  finish(): void
}

export function createGathering(restarts: () => number): Gathering {
  const rounds = new Map<number, Round>()
  const last = new Map<number, string>()
  let departed = ''
  let started = 0
  const send = (worker: Worker, message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message)
  }
  const own = (wanted: number): string =>
    [
      '# HELP sluice_workers Processes that the service should have.',
      '# TYPE sluice_workers gauge',
      `sluice_workers ${wanted}`,
      '# HELP sluice_worker_restarts_total Workers that ended and were replaced.',
      '# TYPE sluice_worker_restarts_total counter',
      `sluice_worker_restarts_total ${restarts()}`,
    ].join('\n')
  return {
    gather(asking, id, question, workers, wanted) {
      started += 1
      const round = started
      const answers: string[] = []
      const open = new Set(workers.map((worker) => worker.id))
      const finish = (): void => {
        clearTimeout(timer)
        rounds.delete(round)
        // A late worker has still counted, so its last counters are added.
        const before = [...open].map((worker) => countersOf(last.get(worker) ?? ''))
        const told = question === 'metrics' ? [...answers, ...before, departed, own(wanted)] : answers
        send(asking, { kind: 'gathered', id, answers: told, workers: wanted })
      }
      const timer = setTimeout(finish, PATIENCE_MS)
      rounds.set(round, { question, open, answers, finish })
      for (const worker of workers) send(worker, { kind: 'ask', id: round, question })
    },
    told(worker, id, answer) {
      const round = rounds.get(id)
      if (round?.open.delete(worker.id) !== true) return
      round.answers.push(answer)
      if (round.question === 'metrics') last.set(worker.id, answer)
      if (round.open.size === 0) round.finish()
    },
    ended(worker) {
      // Keeps the counters of an ended worker: a counter that decreased would look like a restart of the whole service.
      departed = sumMetrics([departed, countersOf(last.get(worker.id) ?? '')])
      last.delete(worker.id)
      for (const round of rounds.values()) if (round.open.delete(worker.id) && round.open.size === 0) round.finish()
    },
  }
}
