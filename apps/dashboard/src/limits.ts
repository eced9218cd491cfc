import { count, element, make } from './element.ts'

/** The level of one limit, as the service reports it. */
export interface Reading {
  readonly name: string
  /** The capacity, in tokens. */
  readonly limit: number
  /** The share of the capacity that is used up, from 0 to 1. */
  readonly used: number
  /** Milliseconds until the limit has its whole capacity again, if nobody calls. */
  readonly resetMs: number
  /** Milliseconds in which a whole capacity is refilled. Absent for a window, whose level stays the same until the window ends. */
  readonly fillMs?: number
  /** The rate in words. */
  readonly rate: string
  /** Which requests the limit counts together, in words. */
  readonly counts: string
}

interface Shown {
  reading: Reading
  /** When the reading arrived: milliseconds of `performance.now()`. */
  at: number
  readonly row: HTMLLIElement
  readonly level: HTMLElement
  readonly facts: HTMLElement
  readonly refused: HTMLElement
  readonly bar: HTMLElement
  readonly fill: HTMLElement
}

/** A limit with less than this share of its capacity left is drawn as nearly used up. */
const LOW = 0.2
const shown = new Map<string, Shown>()

/** Replaces the limits that are shown by these. @param notShown how many limits the service left out */
export function startLimits(readings: readonly Reading[], notShown: number): void {
  shown.clear()
  element('limits').replaceChildren()
  for (const reading of readings) add(reading)
  if (notShown > 0) element('limits').append(make('li', 'quiet', `${count(notShown)} more limits are not shown.`))
}

/** Stores new readings of limits that are shown. @param refused for each rule, how many requests it refused in the last five minutes */
export function showLimits(readings: readonly Reading[], refused: Readonly<Record<string, number>>): void {
  const at = performance.now()
  for (const reading of readings) {
    const known = shown.get(reading.name)
    if (known !== undefined) Object.assign(known, { reading, at })
  }
  for (const [name, { refused: text }] of shown) {
    // A rule may be named `constructor`, which every object inherits.
    const times = Object.hasOwn(refused, name) ? (refused[name] ?? 0) : 0
    text.textContent = times === 0 ? '' : `${count(times)} refused`
  }
}

/** Draws the level of every limit as it is now, computed from the latest reading. */
export function drawLimits(): void {
  const now = performance.now()
  for (const { reading, at, row, level, bar, fill, facts } of shown.values()) {
    const left = leftOf(reading, now - at)
    const text = `${count(Math.floor(left + 1e-9))} of ${count(reading.limit)} left`
    bar.ariaValueMax = String(reading.limit)
    bar.ariaValueNow = String(Math.floor(left))
    bar.ariaValueText = text
    fill.style.width = `${(100 * left) / reading.limit}%`
    level.textContent = text
    facts.textContent = `${reading.rate}, for ${reading.counts}`
    row.classList.toggle('low', left < reading.limit * LOW)
  }
}

/** Tokens left some milliseconds after the reading. */
function leftOf({ limit, used, resetMs, fillMs }: Reading, age: number): number {
  if (fillMs !== undefined) return limit * (1 - Math.max(0, used - age / fillMs))
  return age >= resetMs ? limit : Math.round(limit * (1 - used))
}

function add(reading: Reading): void {
  const row = make('li', 'limit')
  const words = make('div', 'words')
  const [level, refused, facts] = [make('span', 'level'), make('span', 'times'), make('span', 'facts')]
  const [bar, fill] = [make('div', 'bar'), make('div', 'fill')]
  bar.role = 'meter'
  bar.ariaLabel = reading.name
  bar.ariaValueMin = '0'
  bar.append(fill)
  words.append(make('span', 'name', reading.name), refused, level)
  row.append(words, bar, facts)
  element('limits').append(row)
  shown.set(reading.name, { reading, at: performance.now(), row, level, facts, refused, bar, fill })
}
