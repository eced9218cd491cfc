/** Gauges that are summed. Each worker reports the same value of the others, such as a bound or a state, so the largest is used. */
const PARTS: ReadonlySet<string> = new Set(['sluice_keys', 'sluice_lease_tokens', 'sluice_connections'])

interface Family {
  readonly head: string[]
  readonly add: (one: number, other: number) => number
  readonly series: Map<string, number>
}

const sum = (one: number, other: number): number => one + other

/** Merges the metrics of several processes: adds counters and histograms, series by series. */
export function sumMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>()
  for (const text of texts) readInto(families, text)
  const lines = [...families.values()].flatMap(({ head, series }) => [
    ...head,
    ...[...series].map(([name, value]) => `${name} ${written(value)}`),
  ])
  return `${lines.join('\n')}\n`
}

/** The counters and histograms of a process that has ended; its gauges are dropped. */
export function countersOf(text: string): string {
  const families = new Map<string, Family>()
  readInto(families, text)
  const kept = [...families.values()].filter(({ head }) => head.some((line) => /^# TYPE \S+ (?:counter|histogram)$/.test(line)))
  return kept.flatMap(({ head, series }) => [...head, ...[...series].map(([name, value]) => `${name} ${written(value)}`)]).join('\n')
}

function readInto(families: Map<string, Family>, text: string): void {
  let current: Family | undefined
  for (const line of text.split('\n')) {
    const [, what, name = '', type] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? []
    if (what === 'HELP') {
      current = families.get(name) ?? { head: [line], add: PARTS.has(name) ? sum : Math.max, series: new Map() }
      families.set(name, current)
    } else if (what === 'TYPE') {
      const known = families.get(name)
      const add = type === 'counter' || type === 'histogram' || PARTS.has(name) ? sum : Math.max
      current = {
        head: known?.head.includes(line) === false ? [...known.head, line] : (known?.head ?? [line]),
        add,
        series: known?.series ?? new Map(),
      }
      families.set(name, current)
    } else if (line !== '' && !line.startsWith('#')) {
      const end = line.lastIndexOf(' ')
      const [series, value] = [line.slice(0, end), Number(line.slice(end + 1).replace('Inf', 'Infinity'))]
      const family = current ?? { head: [], add: Math.max, series: new Map<string, number>() }
      if (current === undefined) families.set(series, family)
      const before = family.series.get(series)
      family.series.set(series, before === undefined ? value : family.add(before, value))
    }
  }
}

function written(value: number): string {
  return value === Infinity ? '+Inf' : String(value)
}
