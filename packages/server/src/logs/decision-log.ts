import type { LimitView } from 'sluice'
import type { DecisionEvent, Observer, ReadMetric } from 'sluice/observe'
import { counter } from '../http/service-metrics.ts'
import { openTarget } from './decision-log-target.ts'
import type { Log } from './log.ts'

/** Logging one decision in this many takes a few percent of the time of deciding; logging all takes about a third. */
export const DEFAULT_SAMPLE = 100
/** Milliseconds over which lines are collected into one write. */
const COLLECT_MS = 100
/** Characters that may wait for the target. Further lines are dropped, because a slow disk must not fill the memory. */
const MAX_WAITING = 1_048_576

const WRITTEN_HELP = 'Lines of the decision log that were written.'
const DROPPED_HELP = 'Sampled decisions that the decision log does not have, because writes were too slow or failed.'

/** `target`: a file, or `-` for stdout. `sample`: one decision in how many is logged. */
export interface DecisionLogChoice {
  readonly target: string
  readonly sample: number
}

export interface DecisionLog {
  readonly observers: readonly Observer[]
  readonly metrics: readonly ReadMetric[]
  /** For a file that was renamed. On failure, the log goes on in the old file. */
  reopen(log: Log): void
  /** Writes the lines that still wait, and closes the target. */
  close(): Promise<void>
}

const NONE: DecisionLog = { observers: [], metrics: [], reopen: () => {}, close: async () => {} }

/**
 * Decisions never wait for the target. The log contains no identities.
 * @param onDropped called with the number of lines that were not written
 * @throws CommandFailure exit 1 if the target cannot be opened, exit 3 if it is not a file
 */
export async function openDecisionLog(choice: DecisionLogChoice | undefined, onDropped: (lines: number) => void): Promise<DecisionLog> {
  if (choice === undefined) return NONE
  const { sample } = choice
  const target = await openTarget(choice.target)
  const lines = collectLines(target.write, onDropped)
  let skip = skipOf(sample)
  const observer: Observer = {
    onDecision(event) {
      skip -= 1
      if (skip >= 0) return
      skip = skipOf(sample)
      lines.add(lineOf(event, sample))
    },
  }
  return {
    observers: [observer],
    metrics: [
      counter('sluice_decision_log_written_total', WRITTEN_HELP, () => [{ value: lines.written }]),
      counter('sluice_decision_log_dropped_total', DROPPED_HELP, () => [{ value: lines.dropped }]),
    ],
    reopen(log) {
      target.reopen().catch((error: unknown) => {
        const { message } = error as Error
        log('warn', 'decision-log-kept', `${message}; the decision log goes on in the file as it was opened before`)
      })
    },
    async close() {
      await lines.flush()
      await target.close()
    },
  }
}

/** Each decision is logged with a chance of 1/sample. The gaps have a geometric distribution, so one random draw for each gap is enough. */
function skipOf(sample: number): number {
  return sample === 1 ? 0 : Math.floor(Math.log(1 - Math.random()) / Math.log(1 - 1 / sample))
}

/**
 * One write at a time. Lines that do not fit are dropped.
 * @param write rejects if the lines could not be written
 */
export function collectLines(write: (text: string) => Promise<void>, onDropped: (lines: number) => void) {
  let [waiting, count] = ['', 0]
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  const drop = (dropped: number): void => {
    lines.dropped += dropped
    onDropped(dropped)
  }
  const flush = async (): Promise<void> => {
    const [text, some] = [waiting, count]
    ;[waiting, count] = ['', 0]
    try {
      await write(text)
      lines.written += some
    } catch {
      drop(some)
    }
    writing = undefined
    if (count > 0) schedule()
  }
  const start = (): void => {
    timer = undefined
    writing = flush()
  }
  const schedule = (): void => {
    if (writing === undefined) timer ??= setTimeout(start, COLLECT_MS).unref()
  }
  const lines = {
    written: 0,
    dropped: 0,
    add(line: string) {
      if (waiting.length + line.length > MAX_WAITING) return drop(1)
      waiting += line
      count += 1
      schedule()
    },
    /** Resolves when all lines are written or dropped. */
    async flush(): Promise<void> {
      await writing
      clearTimeout(timer)
      if (count === 0) return
      start()
      await writing
    },
  }
  return lines
}

function lineOf({ route, decision, results }: DecisionEvent, sample: number): string {
  const { outcome, allowed, reason, retryAfterMs, source, degraded, limitName, limits } = decision
  const view = limits.find(({ name }) => name === limitName) ?? closest(limits)
  const shadow = results.find(({ result }) => result === 'shadow_denied')?.rule
  // JSON leaves out what is undefined.
  const line = {
    time: new Date().toISOString(),
    route,
    rule: limitName ?? view?.name,
    outcome,
    allowed,
    remaining: view?.remaining,
    limit: view?.limit,
    reason,
    retryAfterMs,
    shadowDenied: shadow,
    source,
    failure: degraded?.kind,
    sample,
  }
  return `${JSON.stringify(line)}\n`
}

/** The limit that has the smallest share of its capacity left. */
function closest(limits: readonly LimitView[]): LimitView | undefined {
  let least: LimitView | undefined
  for (const view of limits) if (least === undefined || view.remaining * least.limit < least.remaining * view.limit) least = view
  return least
}
