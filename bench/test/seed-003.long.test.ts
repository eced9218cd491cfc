import { describe, expect, inject, it } from 'vitest'
import { measureOverGrant } from '../src/over-grant.ts'
import { type Way, wayOf } from '../src/redis/ways.ts'

const { redis: url } = inject('engines')

describe.skipIf(url === undefined)('seed-003: what 64 callers are let through on one key', () => {
  const measure = (way: Way) => measureOverGrant(wayOf(way), { url: url ?? '', seconds: 1, callers: 64, rate: 10, burst: 10 })

  it.each<Way>(['lua', 'lua-article'])('%s: not one too many, in one call', async (way) => {
    const row = await measure(way)
    expect(row).toMatchObject({ errors: 0, callsPerRequest: 1, commandsPerRequest: 1, nominalMaximum: 20, connections: 1 })
    expect(row.allowed).toBeLessThanOrEqual(row.maximum)
    // On a busy machine the callers may have come too late for the last of them.
    expect(row.allowed).toBeGreaterThanOrEqual(row.nominalMaximum / 2)
  })

  it('multi-command: too many, in three calls', async () => {
    const row = await measure('multi-command')
    expect(row.overGrantPercent).toBeGreaterThan(0)
    expect(row.callsPerRequest).toBe(3)
  })

  it('WATCH: not one too many, but calls without end, and requests that nobody decides', async () => {
    const row = await measure('watch')
    expect(row.allowed).toBeLessThanOrEqual(row.maximum)
    expect(row.callsPerRequest).toBeGreaterThan(3)
    expect(row.connections).toBe(64)
    expect(row.reasons).toEqual({ 'interrupted 20 times': row.errors })
  })

  it('Sluice: not one too many over any interval of the server’s clock, in one call', async () => {
    const row = await measure('sluice')
    expect(row.audit).toMatchObject({ overGrant: 0, overGrantPercent: 0 })
    expect(row.allowed).toBeLessThanOrEqual(row.maximum)
    // Nobody is let through for a request that was given up at its deadline, and callers on a busy machine come late.
    expect(row.allowed).toBeGreaterThanOrEqual((row.nominalMaximum - row.errors) / 2)
    expect(row.callsPerRequest).toBeLessThanOrEqual(1)
    expect(row.commandsPerRequest).toBeLessThanOrEqual(1)
  })
})
