import type { PartResults } from '../src/result/suite-result.ts'

/** The results of a part that measured nothing, on an imaginary machine. */
export function partOf(name: string): PartResults {
  return {
    name,
    title: `what ${name} measures`,
    began: '2026-01-02T03:04:05.000Z',
    took: 7,
    seconds: 2,
    depth: 'full',
    machine: { cores: 2, cpu: 'Example', memoryBytes: 2 ** 33, system: 'Linux 6', virtual: false, load: 0.5, node: '20.19.0' },
    servers: 'Redis 7.0.15, private, on the loopback address',
    readings: [],
    tables: [],
    plots: [],
    notes: [],
  }
}
