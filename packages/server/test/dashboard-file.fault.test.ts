import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { runProgram } from './promtool.ts'

const promtool = inject('engines').promtool ?? ''
const ROOT = new URL('../../../', import.meta.url)
const TEXT = readFileSync(new URL('examples/alerts/grafana.json', ROOT), 'utf8')

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly datasource?: { readonly uid: string }
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly __inputs: readonly { readonly name: string; readonly pluginId: string }[]
  readonly uid?: string
  readonly templating: { readonly list: readonly { readonly name: string }[] }
  readonly panels: readonly Panel[]
}

const dashboard = JSON.parse(TEXT) as Dashboard
const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })))
/** The queries, with the variables that Grafana replaces. */
const queries = targets.map(({ title, expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'sluice') }))
/** Labels that Prometheus adds to every series. */
const ADDED = ['job', 'instance']

/**
 * The labels of each metric, read from docs/metrics.md and docs/regions.md. Another test compares docs/metrics.md with a running service.
 */
function documented(): Map<string, readonly string[]> {
  const page = ['metrics', 'regions'].map((name) => readFileSync(new URL(`docs/${name}.md`, ROOT), 'utf8')).join('')
  const rows = [...page.matchAll(/^\| `(\w+)`\s*\| (\w+)\s*\| (.*?)\s*\| .+\|$/gm)]
  return new Map(
    rows.flatMap(([, name = '', type, labels = '']): [string, string[]][] => {
      const own = [...ADDED, ...[...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)]
      if (type !== 'histogram') return [[name, own]]
      return [
        [`${name}_bucket`, [...own, 'le']],
        [`${name}_sum`, own],
        [`${name}_count`, own],
      ]
    }),
  )
}

describe('O6: the dashboard for Grafana', () => {
  it('names no data source of its own, and uses $__rate_interval for every rate', () => {
    expect(dashboard.uid).toBeUndefined()
    expect(dashboard['__inputs'].map(({ name, pluginId }) => [name, pluginId])).toEqual([['DS_PROMETHEUS', 'prometheus']])
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job'])
    for (const { type, datasource } of dashboard.panels) if (type !== 'row') expect(datasource?.uid).toBe('${datasource}')
    for (const { expr } of targets)
      expect(expr.match(/\[.*?\]/g) ?? []).toEqual((expr.match(/\[.*?\]/g) ?? []).map(() => '[$__rate_interval]'))
  })

  it('has panels with ids of their own that do not overlap', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...dashboard.panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24)
  })

  it('reads only metrics and labels that the service has, and shows only labels that a query keeps', () => {
    const known = documented()
    for (const { title, expr, legendFormat } of targets) {
      const metrics = expr.match(/\b(?:sluice|process|nodejs)_\w+/g) ?? []
      expect({ title, metrics }).not.toEqual({ title, metrics: [] })
      expect({ title, unknown: metrics.filter((name) => !known.has(name)) }).toEqual({ title, unknown: [] })
      const labels = new Set(metrics.flatMap((name) => known.get(name) ?? []))
      const matched = [...expr.matchAll(/\{(.*?)\}/g)].flatMap(([, matchers = '']) => matchers.match(/\w+(?==)/g) ?? [])
      const kept = [...expr.matchAll(/\bby \((.*?)\)/g)].flatMap(([, by = '']) => by.split(', '))
      expect({ title, unknown: [...matched, ...kept].filter((label) => !labels.has(label)) }).toEqual({ title, unknown: [] })
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      const left = expr.includes(' by ') ? kept : [...labels]
      expect({ title, unknown: shown.filter((label) => !left.includes(label)) }).toEqual({ title, unknown: [] })
    }
  })

  it('shows every metric of decisions and of the store', () => {
    const page = readFileSync(new URL('docs/metrics.md', ROOT), 'utf8')
    const part = page.slice(page.indexOf('## Decisions'), page.indexOf('## The policy'))
    const names = [...part.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name)
    expect(names.filter((name) => !TEXT.includes(name))).toEqual([])
  })

  it.skipIf(promtool === '')('has queries that promtool can parse', () => {
    const folder = mkdtempSync(join(fileURLToPath(ROOT), 'node_modules/.queries-'))
    try {
      const rules = queries.map(({ expr }, index) => ({ record: `panel:query:${index}`, expr }))
      writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'panels', rules }] }))
      expect(runProgram(promtool, ['check', 'rules', join(folder, 'rules.json')])).toContain(`${rules.length} rules found`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('has the form that Grafana publishes for dashboards', () => {
    // The file is written below the repository, because the compiler searches for types in the folders above the file.
    const cache = fileURLToPath(new URL('node_modules/.cache/', ROOT))
    mkdirSync(cache, { recursive: true })
    const folder = mkdtempSync(join(cache, 'dashboard-'))
    try {
      // In JSON, the value of an enum is a plain text, and options in lists have no types. `Plain` allows that.
      const types = `import type { Dashboard } from '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen'
type Plain<T> = T extends string ? \`\${T}\` : T extends number ? (\`\${T}\` extends \`\${infer N extends number}\` ? N : number) : T extends object ? { [K in keyof T]: Plain<T[K]> } : T
interface Exported { __inputs: unknown; __elements: unknown; __requires: unknown }
export const dashboard: Plain<Dashboard> & Exported = ${TEXT}
`
      writeFileSync(join(folder, 'dashboard.ts'), types)
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022']
      const tsc = fileURLToPath(new URL('node_modules/.bin/tsc', ROOT))
      expect(runProgram(tsc, ['--ignoreConfig', ...options, 'dashboard.ts'], folder)).toMatch(/^0\n/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
