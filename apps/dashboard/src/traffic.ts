import { drawChart, startChart } from './chart.ts'
import { count, element, rate, row, setText, show } from './element.ts'

/**
 * What the service reports several times a second: how many requests it allowed and refused in each second. The first report has the
 * counts of the last five minutes, each later report only those of the latest seconds.
 */
export interface Activity {
  readonly second: number
  readonly allowed: readonly number[]
  readonly refused: readonly number[]
  readonly refusal?: { readonly at: number; readonly why: string }
}

const SECONDS = 299
/** Seconds over which a rate is the mean. */
const RECENT = 5
const ROW_SECONDS = 30

type Kind = 'allowed' | 'refused'
const history: { second: number; allowed: number[]; refused: number[] } = { second: 0, allowed: [], refused: [] }
let refusedAt: number | undefined

/** Adds a report to the history. */
export function showTraffic(activity: Activity): void {
  const gained = activity.second - history.second
  for (const kind of ['allowed', 'refused'] as const) history[kind] = joined(history[kind], activity[kind], gained)
  history.second = activity.second
  for (const kind of ['allowed', 'refused'] as const) figures(kind)
  const [allowed, refused] = [sum(history.allowed), sum(history.refused)]
  setText('share', percent(refused, allowed + refused))
  document.title = recent('refused') > 0 ? `${rate(recent('refused'))}/s refused · Sluice` : 'Sluice'
  if (activity.refusal !== undefined) {
    setText('why', activity.refusal.why)
    refusedAt = activity.refusal.at
    drawAge()
    element('refusal').classList.add('some')
  }
  if (gained !== 0) {
    drawChart(history)
    if ((element('numbers') as HTMLDetailsElement).open) showNumbers()
  }
}

export function startTraffic(): void {
  startChart(element('chart'), element('readout'))
  for (const id of ['live-traffic', 'share-box']) show(id)
  element('numbers').addEventListener('toggle', showNumbers)
}

/** Writes how long ago the last request was refused. */
export function drawAge(): void {
  if (refusedAt === undefined) return
  const seconds = Math.max(0, Math.round((Date.now() - refusedAt) / 1_000))
  const ago = seconds < 2 ? 'just now' : seconds < 120 ? `${seconds} seconds ago` : `${Math.round(seconds / 60)} minutes ago`
  setText('when', `${ago}, at ${clock(refusedAt / 1_000)}`)
}

/**
 * Appends the counts of a report to the known counts, each of one second. If both have a second, the report's count is used. Seconds that
 * neither has get the count 0.
 * @param gained how many seconds the report ends after the known counts
 */
function joined(known: readonly number[], report: readonly number[], gained: number): number[] {
  if (report.length >= SECONDS || known.length === 0) return [...report]
  const missed = Array.from({ length: Math.max(0, gained - report.length) }, () => 0)
  const kept = known.slice(0, Math.max(0, known.length - Math.max(0, report.length - gained)))
  return [...kept, ...missed, ...report].slice(-SECONDS)
}

function figures(kind: Kind): void {
  setText(kind, count(sum(history[kind])))
  setText(`${kind}-rate`, `${rate(recent(kind))}/s`)
}

function recent(kind: Kind): number {
  return sum(history[kind].slice(-RECENT)) / RECENT
}

/** Writes the counts of the chart into a table. A row counts 30 seconds; the newest is the first. */
function showNumbers(): void {
  const rows: HTMLTableRowElement[] = []
  for (let end = history.allowed.length; end > 0; end -= ROW_SECONDS) {
    const from = Math.max(0, end - ROW_SECONDS)
    const start = history.second - (history.allowed.length - from)
    rows.push(row(clock(start), ...[history.allowed, history.refused].map((counts) => count(sum(counts.slice(from, end))))))
  }
  element('number-rows').replaceChildren(...rows)
}

function clock(second: number): string {
  return new Date(second * 1_000).toLocaleTimeString(undefined, { hourCycle: 'h23' })
}

function percent(part: number, all: number): string {
  if (part === 0) return '0 %'
  const share = (100 * part) / all
  return share < 0.1 ? 'below 0.1 %' : `${share < 10 ? share.toFixed(1) : Math.round(share)} %`
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, one) => total + one, 0)
}
