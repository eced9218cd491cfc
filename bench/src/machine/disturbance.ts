import { readdirSync, readFileSync } from 'node:fs'

/** The share of the machine's processor time that went to others than this run, in percent of all processors. */
export interface Disturbance {
  /** Taken by the host for other virtual machines. */
  readonly stealPercent: number
  /** Used by processes that do not belong to the run. */
  readonly othersPercent: number
}

/** From these percentages on, figures by the clock are doubtful. Lower percentages are noise of the counters and of the system itself. */
const MAX_NOISE = { stealPercent: 2, othersPercent: 5 } as const

/**
 * Ticks that may be counted for others although they were the run's own. The system rounds the times of the machine and of each process
 * separately, and a batch of 30 ms has only three ticks.
 */
const UNSURE = 1

/** Processor time in ticks: of the machine since it was started, and of the run's processes. */
interface Ticks {
  readonly all: number
  readonly busy: number
  readonly steal: number
  readonly own: number
}

/**
 * Sums up the processor time that others than this run used. It covers many short stretches of time, such as the batches of one limiter.
 */
export interface DisturbanceMeter {
  begin(): void
  end(): void
  /** The sum so far; undefined on other systems than Linux, or if nothing was measured. */
  result(): Disturbance | undefined
}

/**
 * @param root the process whose descendants (servers and measured limiters) belong to the run. In child processes of the bench this is the
 * process of the bench
 */
export function disturbanceMeter(root: number = Number(process.env['SLUICE_BENCH_PID'] ?? process.pid)): DisturbanceMeter {
  const read = tickReader(root)
  const sum = { all: 0, busy: 0, steal: 0, own: 0, stretches: 0 }
  let before: Ticks | undefined
  return {
    begin: () => void (before = read()),
    end() {
      const after = read()
      if (before === undefined || after === undefined) return
      for (const key of ['all', 'busy', 'steal', 'own'] as const) sum[key] += after[key] - before[key]
      sum.stretches += 1
      before = undefined
    },
    result() {
      if (sum.all <= 0) return undefined
      const percent = (ticks: number): number => Math.max(0, (ticks / sum.all) * 100)
      return { stealPercent: percent(sum.steal), othersPercent: percent(sum.busy - sum.own - sum.stretches * UNSURE) }
    },
  }
}

/** The field `disturbed` of a row or a part. It is absent if others used too little processor time to matter. */
export function disturbedBy(meter: Pick<DisturbanceMeter, 'result'>): { readonly disturbed?: string } {
  const disturbed = disturbanceText(meter.result())
  return disturbed === undefined ? {} : { disturbed }
}

/** Says in words who else used the processors, and how much. Undefined if it was too little to matter. */
export function disturbanceText(disturbance: Disturbance | undefined): string | undefined {
  if (disturbance === undefined) return undefined
  const { stealPercent, othersPercent } = disturbance
  const parts = [
    ...(othersPercent > MAX_NOISE.othersPercent ? [`other processes ${othersPercent.toFixed(0)} %`] : []),
    ...(stealPercent > MAX_NOISE.stealPercent ? [`steal ${stealPercent.toFixed(0)} %`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** proc(5), `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal. Guests are part of user. */
export function machineTicks(stat: string): Omit<Ticks, 'own'> {
  const fields = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ').map(Number).slice(0, 8)
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = fields
  const busy = user + nice + system + irq + softirq
  return { all: busy + idle + wait + steal, busy, steal }
}

/** proc(5), `/proc/PID/stat`: the parent, and the ticks of the process and of its children that have ended. */
export function processTicks(stat: string): { readonly parent: number; readonly ticks: number } {
  // The name may contain blanks and parentheses; the fields after it do not.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [parent = 0] = fields.slice(1)
  return { parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) }
}

/**
 * Milliseconds after which the run's processes are searched again. A search reads all processes, which is too slow to do for each batch.
 */
const FOUND_MS = 1_000

/** Makes a function that reads the ticks. It returns undefined on other systems than Linux. */
function tickReader(root: number): () => Ticks | undefined {
  let [found, own]: [number, readonly number[]] = [-Infinity, []]
  return () => {
    const now = performance.now()
    if (now - found > FOUND_MS) [found, own] = [now, belowOf(root)]
    try {
      const ticks = own.reduce((sum, pid) => sum + (processOf(pid)?.ticks ?? 0), 0)
      return { ...machineTicks(readFileSync('/proc/stat', 'utf8')), own: ticks }
    } catch {
      return undefined
    }
  }
}

/** The process and its descendants. */
export function belowOf(root: number): number[] {
  const parents = new Map(pids().map((pid) => [pid, processOf(pid)?.parent ?? 0]))
  const belongs = (pid: number): boolean => pid === root || (parents.has(pid) && belongs(parents.get(pid) ?? 0))
  return [...parents.keys()].filter(belongs)
}

function pids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

/** The parent and the ticks of a process; undefined if it has ended, because its ticks are then counted with its parent's. */
function processOf(pid: number): ReturnType<typeof processTicks> | undefined {
  try {
    return processTicks(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}
