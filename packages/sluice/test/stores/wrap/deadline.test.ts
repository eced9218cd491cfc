import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { CallOptions, Store } from '../../../src/stores/store.ts'
import { withDeadline } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'

function recording(): { store: Store; seen: (CallOptions | undefined)[] } {
  const seen: (CallOptions | undefined)[] = []
  const inner = memoryStore()
  return {
    seen,
    store: {
      ...inner,
      consume: async (_, options) => (seen.push(options), []),
      peek: async (_, options) => (seen.push(options), []),
      reset: async (_, options) => void seen.push(options),
    },
  }
}

describe('withDeadline', () => {
  it('gives every call a deadline, and keeps its own where that is nearer', async () => {
    const clock = manualClock()
    clock.advance(1_000)
    const { store, seen } = recording()
    const limited = withDeadline(store, 20, clock)
    const { signal } = new AbortController()
    await limited.consume([])
    await limited.peek([], { deadline: 1_005, signal, now: 7 })
    await limited.reset([], { deadline: 9_999 })
    expect(seen).toEqual([{ deadline: 1_020 }, { deadline: 1_005, signal, now: 7 }, { deadline: 1_020 }])
  })

  it.each([0, -1, Number.NaN, 60_001])('refuses %s milliseconds', (ms) => {
    expect(() => withDeadline(memoryStore(), ms)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
