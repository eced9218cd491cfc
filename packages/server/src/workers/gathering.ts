import type { Worker } from 'node:cluster'
import { type Reports, sendTo } from './messages.ts'
import { countersOf, sumMetrics } from './sum-metrics.ts'

const MAX_WAIT_MS = 1_000

interface Round {
  readonly name: keyof Reports
  /** Ids of the workers that have not reported. */
  readonly open: Set<number>
  readonly reports: unknown[]
  finish(): void
}

/** Collects the reports of all workers for one of them, and keeps the last counters of workers that have ended. */
export function createGathering(restarts: () => number) {
  const rounds = new Map<number, Round>()
  /** The last metrics of each worker, and the counters of those that have ended. */
  const last = new Map<number, string>()
  let departed = ''
  let started = 0
  const lastCounters = (id: number): string => countersOf(last.get(id) ?? '')
  return {
    /**
     * Sends `receiver` the reports of all workers, after a second at most. For a late worker it uses the counters that it last reported.
     * @param wanted the number of workers that there should be
     */
    gather(receiver: Worker, id: number, name: keyof Reports, workers: readonly Worker[], wanted: number) {
      started += 1
      const round = started
      const reports: unknown[] = []
      const open = new Set(workers.map((worker) => worker.id))
      const finish = (): void => {
        clearTimeout(timer)
        rounds.delete(round)
        if (name === 'metrics') reports.push(...[...open].map(lastCounters), departed, ownMetrics(wanted, restarts()))
        sendTo(receiver, { kind: 'gathered', id, reports, workers: wanted })
      }
      const timer = setTimeout(finish, MAX_WAIT_MS)
      rounds.set(round, { name, open, reports, finish })
      for (const worker of workers) sendTo(worker, { kind: 'report', id: round, name })
    },
    reported(worker: Worker, id: number, report: unknown) {
      const round = rounds.get(id)
      if (round?.open.delete(worker.id) !== true) return
      round.reports.push(report)
      if (round.name === 'metrics') last.set(worker.id, report as string)
      if (round.open.size === 0) round.finish()
    },
    ended({ id }: Worker) {
      // Keeps the counters of an ended worker: a counter that decreased would look like a restart of the whole service.
      departed = sumMetrics([departed, lastCounters(id)])
      last.delete(id)
      for (const round of rounds.values()) if (round.open.delete(id) && round.open.size === 0) round.finish()
    },
  }
}

function ownMetrics(workers: number, restarts: number): string {
  return `# HELP sluice_workers Processes that the service should have.
# TYPE sluice_workers gauge
sluice_workers ${workers}
# HELP sluice_worker_restarts_total Workers that ended and were replaced.
# TYPE sluice_worker_restarts_total counter
sluice_worker_restarts_total ${restarts}`
}
