import { expect } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { parseDuration } from '../../../src/time/duration.ts'
import { applyGroup } from '../driver.ts'

/** Midnight, 20 November 2025: every usual window begins here. */
export const MIDNIGHT = 1_763_596_800_000_000

/**
 * Plays a table against one key. A line has a time since midnight and a cost, then what the answer must be: outcome, remaining, retryAfter,
 * resetAfter. A time is a duration, a sum of durations (`59s+999999us`), or `-` for none. Text after `#` is a remark.
 */
export function plays(limit: AnyLimit, table: string, phase = 0): void {
  let state: unknown
  for (const line of table.split('\n').map((text) => text.replace(/#.*/, '').trim())) {
    if (line === '') continue
    const [time = '', cost = '', outcome, remaining, retryAfter, resetAfter] = line.split(/\s+/)
    const now = MIDNIGHT + read(time)
    const result = applyGroup([state], [{ slot: 0, limit, cost: Number(cost), phase }], now)
    const [call] = result.calls
    const seen = { line, answer: [result.outcome, call?.remaining, call?.retryAfter, call?.resetAfter] }
    expect(seen).toEqual({ line, answer: [outcome, Number(remaining), read(retryAfter ?? ''), read(resetAfter ?? '')] })
    state = result.writes[0]?.state ?? state
  }
}

function read(text: string): number {
  if (text === '-' || text === '0') return 0
  return text.split('+').reduce((sum, part) => sum + (part.startsWith('-') ? -parseDuration(part.slice(1)) : parseDuration(part)), 0)
}
