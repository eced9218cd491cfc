import type { FaultFinding, WholeRun } from './faults.ts'
import type { Task } from './hammer.ts'

const HEADING = ['network', 'policy', 'calls', 'decided', 'passed', 'permitted', 'over-grant', 'p50', 'p99', 'longest', 'back after']

export function faultLines(
  { name, rate, burst, callers }: Task & { readonly name: string },
  findings: readonly FaultFinding[],
  { seconds, allowed, theoreticalMax, worstOverGrant }: WholeRun,
): string[] {
  const rows = findings.map((found) => [
    found.fault,
    found.policy,
    String(found.calls),
    String(found.decided),
    String(found.passed),
    String(found.permitted),
    `${found.overGrantPercent.toFixed(2)} %`,
    ...[found.p50, found.p99, found.longest, found.backAfterMs].map((ms) => `${ms.toFixed(1)} ms`),
  ])
  const all = [HEADING, ...rows]
  const widths = HEADING.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')
  return [
    `${name}: one token bucket of ${rate}, burst ${burst}, ${callers} callers for each failure policy, deadline 50 ms`,
    ...all.map(line),
    'decided: answers of the store, its leases and remembered denials. The others are of the failure policy: deny lets nothing pass,',
    'allow everything, local what the same limit in this process permits once more. permitted: burst + rate * time of each line.',
    'back after: from the end of the fault until the store decided again.',
    `deny, the whole run: the store allowed ${allowed} in ${seconds.toFixed(3)} s of its time; theoretical max ${theoreticalMax},`,
    `worst interval ${worstOverGrant} above burst + rate * t.`,
  ]
}
