import type { Machine } from '../machine/machine.ts'
import type { PartResults, SuiteResults } from '../result/suite-result.ts'
import type { Table } from '../result/table.ts'
import { cellTexts, notAudited } from './cells.ts'
import { figure, table } from './columns.ts'
import { readingsTable, tallyText } from './readings.ts'

/** Machine and versions in one line, for tables and documents. */
export function machineText({ cores, cpu, virtual, memoryBytes, load, node, commit }: Machine, servers: string): string {
  const busy = load > cores ? ' (busy: wall times are unreliable)' : ''
  return [
    `${cores} cores (${cpu}${virtual ? ', virtual machine' : ''}), ${figure(memoryBytes / 2 ** 30, 1)} GiB`,
    `load ${figure(load, 2)} at the start${busy}`,
    `node ${node}`,
    servers,
    ...(commit === undefined ? [] : [`commit ${commit}`]),
  ].join('; ')
}

/** The results of a suite for a terminal. */
export function suiteText({ suite, title, parts }: SuiteResults): string {
  const readings = parts.flatMap((part) => part.readings)
  const tally = readings.length === 0 ? [] : [tallyText(readings)]
  return [`${suite}: ${title}`, ...parts.map(partText), ...tally].join('\n\n')
}

function partText(part: PartResults): string {
  const { name, title, readings, tables, notes, machine, servers, disturbed, took } = part
  return [
    `${name.toUpperCase()}  ${title}`,
    `${machineText(machine, servers)}; ${figure(took)} s in all`,
    ...(disturbed === undefined ? [] : [`DISTURBED: ${disturbed} of the machine while it ran`]),
    ...(readings.length === 0 ? [] : [readingsTable(readings)]),
    ...tables.map(tableText),
    ...notes,
  ].join('\n')
}

export function tableText(shown: Table): string {
  const { heading, rows } = cellTexts(shown)
  return [`${shown.title}:`, table(heading, rows), ...(shown.notes ?? []), ...notAudited(shown.rows)].join('\n')
}
