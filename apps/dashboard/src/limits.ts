import { element } from './element.ts'

/** A limit as the service tells it. */
export interface LimitReading {
  readonly name: string
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number
  readonly windowMs: number
  /** Milliseconds a whole refill takes; equal to the window unless the policy states another. */
  readonly fillMs: number
}

interface Shown {
  reading: LimitReading
  /** When the reading arrived, on the page's own clock. */
  at: number
  readonly row: HTMLLIElement
  readonly level: HTMLElement
  readonly rate: HTMLElement
  readonly bar: HTMLProgressElement
}

/** Below this share of its capacity a limit is drawn as nearly used up. */
const LOW = 0.2
const shown = new Map<string, Shown>()

/** Takes over new readings; limits never seen before get a row. Whoever asked last may be in another tier than the one before. */
export function showLimits(readings: readonly LimitReading[]): void {
  for (const reading of readings) {
    const known = shown.get(reading.name) ?? add(reading)
    known.reading = reading
    known.at = performance.now()
    known.bar.max = reading.limit
    known.rate.textContent = `refilled at ${Math.round((reading.limit / reading.fillMs) * 1e6) / 1e3} a second`
  }
}

/** Draws every level as it stands now: from the time left until full, which falls as the bucket fills. */
export function drawLimits(): void {
  const now = performance.now()
  for (const { reading, at, row, level, bar } of shown.values()) {
    const left = Math.max(0, reading.resetAfterMs - (now - at))
    const tokens = reading.limit * (1 - Math.min(1, left / reading.fillMs))
    bar.value = tokens
    level.textContent = `${Math.floor(tokens + 1e-9)} of ${reading.limit}`
    row.classList.toggle('low', tokens < reading.limit * LOW)
  }
}

function add(reading: LimitReading): Shown {
  const row = document.createElement('li')
  row.className = 'limit'
  const words = document.createElement('div')
  words.className = 'words'
  const [name, level, rate] = ['name', 'level', 'rate'].map((kind) => {
    const part = document.createElement('span')
    part.className = kind
    return part
  }) as [HTMLElement, HTMLElement, HTMLElement]
  name.textContent = reading.name
  const bar = document.createElement('progress')
  bar.className = 'bar'
  bar.setAttribute('aria-label', reading.name)
  words.append(name, level, rate)
  row.append(words, bar)
  element('limits').append(row)
  const made: Shown = { reading, at: performance.now(), row, level, rate, bar }
  shown.set(reading.name, made)
  return made
}
