/** Gauges that are summed. Each worker reports the same value of the others, such as a bound or a state, so the largest is used. */
const PARTS: ReadonlySet<string> = new Set(['sluice_keys', 'sluice_lease_tokens', 'sluice_connections'])

interface Family {
  readonly head: string[]
  summed: boolean
  readonly series: Map<string, number>
}

/** Merges the metrics of several processes: adds counters and histograms, series by series. */
export function sumMetrics(texts: readonly string[]): string {
  return `${written(familiesOf(texts))}\n`
}

/** The counters and histograms of a process that has ended; its gauges are dropped. */
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
      family = families.get(name) ?? { head: [line], summed: PARTS.has(name), series: new Map() }
      families.set(name, family)
    } else if (what === 'TYPE') {
      if (family?.head.length === 1) family.head.push(line)
      if (family !== undefined && isCounted(line)) family.summed = true
    } else if (line !== '' && family !== undefined) {
      const end = line.lastIndexOf(' ')
      const [series, value] = [line.slice(0, end), Number(line.slice(end + 1).replace('Inf', 'Infinity'))]
      const before = family.series.get(series)
      family.series.set(series, before === undefined ? value : family.summed ? before + value : Math.max(before, value))
    }
  }
  return [...families.values()]
}

function isCounted(type: string | undefined): boolean {
  return type?.endsWith(' counter') === true || type?.endsWith(' histogram') === true
}
