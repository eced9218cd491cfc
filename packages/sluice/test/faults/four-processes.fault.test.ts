import { fourBusyProcesses, fourProcesses } from './four-processes.ts'

/** `SLUICE_HAMMER_MS=30000` is what the guarantee is stated for; a run of all faults has less time. */
const MS = Number(process.env['SLUICE_HAMMER_MS'] ?? 2_500)

fourProcesses(10_000)
fourBusyProcesses(MS)
