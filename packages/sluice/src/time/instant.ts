import type { Micros } from './micros.ts'

export const INSTANT_FORM = 'an instant such as 2026-12-31T23:59:59Z or 2026-12-31T23:59:59+01:00'

const MICROS_PER_SECOND = 1_000_000
const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(?:Z|([+-])(\d{2}):(\d{2}))$/

/** An instant of RFC 3339, from 1970 to 2254. Undefined for invalid text, such as the 30th of February. */
export function parseInstant(text: string): Micros | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHours * 3_600 + offsetMinutes * 60)
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
  const micros = seconds * MICROS_PER_SECOND + Number((match[7] ?? '').padEnd(6, '0'))
  return year <= 2254 && micros >= 0 ? micros : undefined
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return isLeap(year) ? 29 : 28
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

function daysSince1970(year: number, month: number, day: number): number {
  const years = year - 1
  const before = years * 365 + Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  let days = before - 719_162 + day - 1
  for (let earlier = 1; earlier < month; earlier += 1) days += daysIn(year, earlier)
  return days
}
