import type { LimitFacts } from 'sluice/policy'

const PER: Readonly<Record<string, string>> = { s: 'a second', min: 'a minute', h: 'an hour', d: 'a day', w: 'a week' }

export function limitText({ algorithm, capacity, rate, windowMs }: LimitFacts): string {
  const time = timeText(windowMs)
  if (rate !== undefined) return `${algorithm}: ${rateWords(rate)}, burst ${capacity}, window ${time}`
  return algorithm === 'concurrency'
    ? `${algorithm}: ${capacity} at once, each for at most ${time}`
    : `${algorithm}: ${capacity} in ${time}`
}

/** `10/min` as `10 a minute`, `1/30d` as `1 every 30 d`. */
function rateWords(rate: string): string {
  const [tokens = '', per = ''] = rate.split('/')
  return `${tokens} ${PER[per] ?? `every ${per.replace(/\d+/, '$& ')}`}`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const

/** In the largest unit that gives a whole number, else in seconds or milliseconds. */
function timeText(ms: number): string {
  const [unit, length] = UNITS.find(([, one]) => ms % one === 0) ?? (ms < 1_000 ? ['ms', 1] : ['s', 1_000])
  return `${ms / length} ${unit}`
}
