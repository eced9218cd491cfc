import type { Grant } from '../src/redis/grants.ts'
import type { Way } from '../src/redis/ways.ts'
import type { HostsResult } from '../src/seed-003/hosts-run.ts'
import type { Lane } from '../src/seed-003/measured.ts'

/** Of a test of one second on an imaginary machine. */
export function grantOf(overGrantPercent: number): Grant {
  const audit = { overGrant: 2, overGrantPercent, from: 0, to: 1, admitted: 3, permitted: 20 }
  const counts = { total: 100, allowed: 22, errors: 1, nominalMaximum: 20, maximum: 21, overNominalPercent: 10 }
  return { name: 'any', ...counts, connections: 1, overGrantPercent, audit, times: [0, 5] }
}

/** A lane of two rounds. */
export function laneOf(way: Way, wall: number, more: Partial<Lane['timed']> = {}, grant: Grant = grantOf(0)): Lane {
  const rounds = [wall, wall * 3].map((one) => ({ wall: one, client: 1, server: 1 }))
  const timed = { name: way, callers: 64, rounds, total: 100, allowed: 100, errors: 0, reasons: {}, storeCalls: 1, ...more }
  return { way, timed, samples: [1, 9, 2].map((factor) => ({ bytes: 100 * factor, p50: 10 * factor, p99: 20 * factor })), grant }
}

/** What a way decided on 40 requests of an imaginary run. */
export function hostsResultOf(way: Way, overGrantPercent: number): HostsResult {
  const audit = { overGrant: overGrantPercent / 5, overGrantPercent, from: 0, to: 1, admitted: 25, permitted: 20 }
  const counts = { total: 40, allowed: 25, exactAllowed: 20, falseDenials: 4, errors: 0, reasons: {} }
  return { way, name: way, ...counts, overGrantPercent, audit, sent: [] }
}
