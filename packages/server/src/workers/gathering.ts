import type { Worker } from 'node:cluster'
import { prometheusMetrics } from 'sluice/observe'
import { processMetrics } from '../http/process-metrics.ts'
import { counter, gauge } from '../http/service-metrics.ts'
import { type ReportName, sendTo } from './messages.ts'
import { countersOf, sumMetrics } from './sum-metrics.ts'

const MAX_WAIT_MS = 1_000

/** Keeps the last counters of workers that have ended. */
export function createGathering(restarts: () => number) {
  /** Each round collects one report of every worker; undefined stands for a worker that has ended or has no report. */
  const rounds = new Map<number, (worker: number, report: unknown) => void>()
  /** `last`: metrics by worker. `departed`: the sum of the counters of ended workers. */
  const last = new Map<number, string>()
  let departed = ''
  let started = 0
  let wanted = 0
  const own = prometheusMetrics({
    read: [
      gauge('sluice_workers', 'Processes that the service should have.', () => [{ value: wanted }]),
      counter('sluice_worker_restarts_total', 'Workers that ended and were replaced.', () => [{ value: restarts() }]),
      ...processMetrics(),
    ],
  })
  const lastCounters = (id: number): string => countersOf(last.get(id) ?? '')
  return {
    /**
     * Answers after at most a second. Metrics of a late worker are its previous counters.
     * @param count the number of workers that there should be
     * @param reports those that are sent before the reports of the workers
     */
    gather(receiver: Worker, id: number, name: ReportName, workers: readonly Worker[], count: number, reports: unknown[] = []) {
      wanted = count
      started += 1
      const round = started
      // A worker that ends during the round is counted by its own report alone.
      const departedBefore = departed
      /** Ids of the workers that have not reported. */
      const open = new Set(workers.map((worker) => worker.id))
      const finish = (): void => {
        clearTimeout(timer)
        rounds.delete(round)
        if (name === 'metrics') reports.push(...[...open].map(lastCounters), departedBefore, own.text())
        sendTo(receiver, { kind: 'gathered', id, reports, workers: count })
      }
      const timer = setTimeout(finish, MAX_WAIT_MS)
      rounds.set(round, (worker, report) => {
        if (!open.delete(worker)) return
        if (report !== undefined) reports.push(report)
        if (name === 'metrics') {
          if (report === undefined) reports.push(lastCounters(worker))
          else last.set(worker, report as string)
        }
        if (open.size === 0) finish()
      })
      // What all workers share, such as the number of keys, is reported by the first worker only.
      for (const [index, worker] of workers.entries()) sendTo(worker, { kind: 'report', id: round, name, isFirst: index === 0 })
    },
    reported(worker: Worker, id: number, report: unknown) {
      rounds.get(id)?.(worker.id, report)
    },
    ended({ id }: Worker) {
      // Rounds under way need the last counters, which are then forgotten.
      for (const take of rounds.values()) take(id, undefined)
      // Without the counters of ended workers the sums would decrease, which looks like a restart of the whole service.
      departed = sumMetrics([departed, lastCounters(id)])
      last.delete(id)
    },
  }
}
