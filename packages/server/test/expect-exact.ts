import { expect } from 'vitest'
import type { Ran } from './command.ts'

/** A second of `sluice verify`, of few callers. */
export const SHORT = ['--seconds', '1', '--callers', '4'] as const

/** Checks a report about a store whose decisions are exact. It checks only what is true however busy the machine was. */
export function expectExact({ code, stdout, stderr }: Ran, processes: number): void {
  expect([code, stderr]).toEqual([0, ''])
  const report = JSON.parse(stdout) as Record<string, number>
  expect(report).toMatchObject({ rate: '10/s', burst: 10, callers: 4, processes, errors: 0, errorKinds: {}, worstOverGrant: 0, ok: true })
  expect(report['overGrantPercent']).toBeLessThanOrEqual(0)
  expect(report['allowed']).toBeLessThanOrEqual(report['theoreticalMax'] as number)
  expect(report['allowed']).toBeGreaterThanOrEqual(10)
  expect(report['total']).toBeGreaterThan(report['allowed'] as number)
}
