import { describe, expect, it } from 'vitest'
import { FAMILIES, searched, type Searched } from './turn-pairs.ts'
import type { Promised } from './turns.ts'

/** Pairs of plans of each algorithm: 12,000 in all. */
const PAIRS: Readonly<Record<string, number>> = {
  'fixed windows': 5_000,
  'fixed windows with large limits': 2_000,
  counters: 3_000,
  logs: 1_000,
  buckets: 1_000,
}

/** Of these, over 25 windows of the longer. */
const LONG: Readonly<Record<string, number>> = {
  'fixed windows': 150,
  'fixed windows with large limits': 75,
  counters: 75,
  logs: 15,
  buckets: 15,
}

describe('X2: 12,000 pairs of plans that take turns, each with its greediest caller', () => {
  it.each(Object.entries(FAMILIES))('%s mint nothing', { timeout: 1_800_000 }, (name, family) => {
    const pairs = PAIRS[name] as number
    shown(`${name}, ${pairs} pairs`, searched(family, { pairs, instants: 36, width: 10 }))
  })

  it.each(Object.entries(FAMILIES))('%s mint nothing over many windows', { timeout: 1_800_000 }, (name, family) => {
    const pairs = LONG[name] as number
    shown(`${name}, ${pairs} pairs over 25 windows`, searched(family, { pairs, width: 8, windows: 25 }))
  })
})

/** Prints the worst ratio that was found for each promise, and expects that none is above 1. */
function shown(what: string, found: Iterable<Searched>): void {
  const worst: Record<Promised, { pair: string; ratio: number }> = {
    turns: { pair: '', ratio: 0 },
    meeting: { pair: '', ratio: 0 },
    any: { pair: '', ratio: 0 },
  }
  for (const { pair, promised, ratio } of found) if (ratio > worst[promised].ratio) worst[promised] = { pair, ratio }
  for (const [promised, { pair, ratio }] of Object.entries(worst)) {
    process.stdout.write(`${what}, ${promised}: worst ratio admitted / promised ${ratio.toFixed(6)} (${pair})\n`)
    expect(ratio).toBeLessThanOrEqual(1)
  }
}
