type Combine = (one: number, other: number) => number

const sum: Combine = (one, other) => one + other
/** How gauges of several processes are combined. For every other gauge, the largest value is used. */
const COMBINED: ReadonlyMap<string, Combine> = new Map([
  ['sluice_lease_tokens', sum],
  ['sluice_connections', sum],
  ['process_resident_memory_bytes', sum],
  ['process_open_fds', sum],
  ['process_max_fds', sum],
  ['nodejs_heap_size_total_bytes', sum],
  ['nodejs_heap_size_used_bytes', sum],
  ['nodejs_external_memory_bytes', sum],
  // The service is as old as its oldest process.
  ['process_start_time_seconds', Math.min],
])

interface Family {
  readonly head: string[]
  combine: Combine
  readonly series: Map<string, number>
}

/** Adds counters and histograms, series by series. */
export function sumMetrics(texts: readonly string[]): string {
  return `${written(familiesOf(texts))}\n`
}

/** The gauges of an ended process are dropped. */
export function countersOf(text: string): string {
  return written(familiesOf([text]).filter(({ head: [, type] }) => isCounted(type)))
}

function written(families: readonly Family[]): string {
  const line = ([name, value]: readonly [string, number]): string => `${name} ${value === Infinity ? '+Inf' : value}`
  return families.flatMap(({ head, series }) => [...head, ...[...series].map(line)]).join('\n')
}

function familiesOf(texts: readonly string[]): Family[] {
  const families = new Map<string, Family>()
  let family: Family | undefined
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const [, what, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? []
    if (what === 'HELP') {
      family = families.get(name) ?? { head: [line], combine: COMBINED.get(name) ?? Math.max, series: new Map() }
      families.set(name, family)
    } else if (what === 'TYPE') {
      if (family?.head.length === 1) family.head.push(line)
      if (family !== undefined && isCounted(line)) family.combine = sum
    } else if (line !== '' && family !== undefined) {
      const end = line.lastIndexOf(' ')
      const [series, value] = [line.slice(0, end), Number(line.slice(end + 1).replace('Inf', 'Infinity'))]
      const before = family.series.get(series)
      family.series.set(series, before === undefined ? value : family.combine(before, value))
    }
  }
  return [...families.values()]
}

function isCounted(type: string | undefined): boolean {
  return type?.endsWith(' counter') === true || type?.endsWith(' histogram') === true
}
