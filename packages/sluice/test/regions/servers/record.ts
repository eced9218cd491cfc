import { linksOf, type Region } from './region.ts'
import type { Load } from './load.ts'
import { costOf, overOf, type Passed, RATE } from './trace.ts'

/** What occurred in a phase. */
interface Phase {
  readonly name: string
  readonly seconds: number
  readonly calls: number
  readonly undecided: number
  readonly passed: readonly Passed[]
  readonly transfers: number
  readonly unitsSent: number
  /** Of how many keys units were sent or received in the era: the most in any region at any time. */
  readonly cells: number
}

/** What a run has found so far. */
export interface RunRecord {
  readonly regions: ReadonlyMap<string, Region>
  readonly keys: readonly string[]
  readonly load: Load
  readonly phases: Phase[]
  /** What was measured, a line each. */
  readonly lines: string[]
  /** What must not be, on any machine. */
  readonly problems: string[]
  /** What took too long. Other programs on the same machine may be the cause. */
  readonly late: string[]
  /** Whether a call may exceed the limit, because it passed in a server that still answered after another one was promoted. */
  isExcess: (one: Passed) => boolean
  /**
   * For the region with a failover: for how many seconds (`wait`) two primaries answered, and how many units the old one held of each key.
   */
  failover: { readonly name: string; readonly wait: number; readonly units: ReadonlyMap<string, number> } | undefined
}

const SAMPLED_MS = 100

/** Runs a phase, and notes what occurred in it. */
export async function phase(record: RunRecord, name: string, work: () => Promise<void>): Promise<void> {
  const { load, regions } = record
  const sent = () => {
    const all = [...regions.values()].map(({ replicator }) => replicator.status())
    return {
      transfers: all.reduce((sum, { transfers }) => sum + transfers.sent, 0),
      units: all.reduce((sum, { transfers }) => sum + transfers.unitsSent, 0),
      cells: Math.max(...all.map(({ cells }) => cells)),
    }
  }
  const [began, before, from, counts] = [performance.now(), sent(), load.passed.length, { ...load.counts }]
  let cells = 0
  const sampling = setInterval(() => (cells = Math.max(cells, sent().cells)), SAMPLED_MS)
  try {
    await work()
  } finally {
    clearInterval(sampling)
    const after = sent()
    record.phases.push({
      name,
      seconds: (performance.now() - began) / 1_000,
      calls: load.counts.calls - counts.calls,
      undecided: load.counts.undecided - counts.undecided,
      passed: load.passed.slice(from),
      transfers: after.transfers - before.transfers,
      unitsSent: after.units - before.units,
      cells: Math.max(cells, after.cells),
    })
  }
}

/** Adds a problem unless it holds. */
export function require({ problems }: RunRecord, holds: boolean, problem: string): void {
  if (!holds) problems.push(problem)
}

/** The same of what takes time. */
export function requireInTime({ late }: RunRecord, holds: boolean, problem: string): void {
  if (!holds) late.push(problem)
}

/** Compares what passed with the limit, for each region and for all regions together. Only calls with `isExcess` may exceed it. */
export function auditAll(record: RunRecord): void {
  const { regions, load, isExcess } = record
  const usual = load.passed.filter((one) => !isExcess(one))
  const together = overOf(usual)
  record.lines.push(`over in any interval: all regions together ${figure(together)}`)
  require(record, together === 0, `all regions together were ${together} tokens over`)
  for (const name of regions.keys()) {
    const own = overOf(usual.filter(({ region }) => region === name))
    record.lines.push(`over in any interval: region ${name} ${figure(own)}`)
    require(record, own === 0, `region ${name} was ${own} tokens over`)
  }
  for (const kind of ['lost', 'halfClosed', 'repeated'] as const)
    require(record, linksOf(regions).some(({ counts }) => counts[kind] > 0), `no link did this: ${kind}`)
}

const HEADING = ['phase', 'seconds', 'calls', 'allowed', 'undecided', 'used', 'transfers', 'units sent', 'keys moved', 'over']

/** The phases as a table. One column has the cost that passed, in percent of what the rate gives in the phase. */
export function tableOf({ phases, keys, load, isExcess }: RunRecord): string {
  const rows = phases.map((one) => rowOf(one.name, one, keys.length, isExcess))
  const sum = (of: (one: Phase) => number): number => phases.reduce((all, one) => all + of(one), 0)
  const all: Phase = {
    name: 'all',
    seconds: sum(({ seconds }) => seconds),
    calls: sum(({ calls }) => calls),
    undecided: sum(({ undecided }) => undecided),
    passed: load.passed,
    transfers: sum(({ transfers }) => transfers),
    unitsSent: sum(({ unitsSent }) => unitsSent),
    cells: Math.max(...phases.map(({ cells }) => cells)),
  }
  rows.push(rowOf('all', all, keys.length, isExcess))
  const widths = HEADING.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] as string).length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number))).join('  ')
  return [HEADING, ...rows].map(line).join('\n')
}

function rowOf(name: string, one: Phase, keys: number, isExcess: RunRecord['isExcess']): readonly string[] {
  const { seconds, calls, undecided, passed, transfers, unitsSent, cells } = one
  const used = (100 * costOf(passed)) / (RATE * seconds * keys)
  const over = overOf(passed.filter((call) => !isExcess(call)))
  const counts = [calls, passed.length, undecided].map(String)
  return [name, seconds.toFixed(1), ...counts, `${used.toFixed(0)} %`, ...[transfers, unitsSent, cells].map(String), figure(over)]
}

const figure = (value: number): string => (value === 0 ? '0' : value.toFixed(1))
