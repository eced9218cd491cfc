import { describe, expect, inject, it } from 'vitest'
import { fourProcesses, told } from './four-processes.ts'
import { hammer } from './hammer.ts'

fourProcesses(5_000)

/** Milliseconds for each; longer by SLUICE_HAMMER_MS. */
const MS = Number(process.env['SLUICE_HAMMER_MS'] ?? 2_500)
const CALLERS = 64
const { redis: url } = inject('engines')

describe.skipIf(url === undefined).each(['exact', 'coalesced', 'leases'] as const)(
  'four processes of 64 callers on one Redis, %s',
  (mode) => {
    it.each([1, 1_000])(
      'keys: %i',
      async (keys) => {
        const space = `${mode}-${process.pid}-${performance.now().toFixed(0)}:`
        const hammered = await hammer({ kind: 'redis', url: url as string, space, ms: MS, mode, keys, callers: CALLERS })
        told(hammered)
        expect(hammered.overGrant).toBe(0)
        expect(hammered.admitted).toBeLessThanOrEqual(hammered.permitted)
        // A lease that lies with one process is missing to the others; who asks the store gets exactly what there is.
        expect(hammered.admitted / hammered.permitted).toBeGreaterThanOrEqual(mode === 'leases' ? 0.5 : 1)
      },
      MS + 60_000,
    )
  },
)
