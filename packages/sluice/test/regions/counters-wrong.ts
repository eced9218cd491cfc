import type { Replacement } from './variants.ts'

const at = (file: Replacement['file'], from: string, to: string): Replacement => ({ file, from, to })

const DIFFERENCE = 'if (known?.born === born) return Math.max(0, value - known.value)'
const LEVEL = 'return bucketWith(own, level, time, before.keepFor)'

/** Programs of counters that are wrong in one way each. */
export const WRONG_COUNTERS = {
  'rows are differences, not sums': [
    at('counters/spend.ts', 'cursor = changed\n', 'cursor = changed\n        entry.value = 0\n'),
    at('counters/known.ts', DIFFERENCE, 'if (known?.born === born) return value'),
  ],
  'the last row that arrives is right': [
    at('counters/known.ts', DIFFERENCE, 'if (known?.born === born) return value - known.value'),
    at('counters/known.ts', 'value: Math.max(known.value, value)', 'value'),
    at('counters/counters.ts', 'if (amount > 0 && !charges.charge(', 'if (amount !== 0 && !charges.charge('),
  ],
  'a debt is cut at empty': [at('counters/debt.ts', LEVEL, 'return bucketWith(own, level > 0n ? level : 0n, time, before.keepFor)')],
  'a debt is cut at one burst below empty': [
    at(
      'counters/debt.ts',
      LEVEL,
      'const least = -BigInt(own.burst) * BigInt(own.m)\n  return bucketWith(own, level > least ? level : least, time, before.keepFor)',
    ),
  ],
  'a lost store counts on under its old run': [at('counters/known.ts', 'if (from === run) return\n', 'if (run !== undefined) return\n')],
  'a row begins again before all have read it': [at('counters/spend.ts', '&& changed <= readUpTo()', '')],
  'the first page counts for at most a burst': [at('counters/known.ts', 'burst + Math.ceil((elapsed * MARGIN * n) / m)', 'burst')],
  'the first page counts by the limit of the latest call': [at('counters/known.ts', 'most ?? plan', 'plan')],
  'the part of a region that is cut off is full at first': [
    at('counters/debt.ts', 'bucketWith(plan, 0n, since, 0)', 'bucketWith(plan, BigInt(plan.burst) * BigInt(plan.m), since, 0)'),
  ],
  'what passes while cut off is free': [
    at('counters/counters.ts', 'if (cutoff.latest === undefined) return\n', 'if (cutoff.latest !== null) return\n'),
  ],
  'a peer counts as read when its page arrives': [
    at('counters/peers.ts', 'peer.completeAt = requestedAt', 'peer.completeAt = monotonic()'),
  ],
  'a region is whole again when one peer is read': [at('counters/peers.ts', 'return Math.min(', 'return Math.max(')],
} as const satisfies Record<string, readonly Replacement[]>

/** Wrong programs that few random histories notice. `counters.test.ts` has a history written by hand for each of them. */
export const NOTICED_BY_HAND: readonly string[] = [
  'a lost store counts on under its old run',
  'a debt is cut at one burst below empty',
  'the first page counts for at most a burst',
  'the first page counts by the limit of the latest call',
]
