import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, inject, it, vi } from 'vitest'
import { serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis
const file = policyFiles()
const PAGE = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')

interface Metric {
  readonly type: string
  readonly labels: string
}

/** The metrics of docs/metrics.md: `| name | type | labels | meaning |`. */
function documented(): Map<string, Metric> {
  const rows = PAGE.matchAll(/^\| `(\w+)`\s*\| (\w+)\s*\| (.*?)\s*\| .+\|$/gm)
  return new Map([...rows].map(([, name = '', type = '', labels = '']) => [name, { type, labels: labels.replaceAll('`', '') }]))
}

/** The metrics of a scrape. A metric has labels here if it has a series, and `seen` says whether it has one. */
function exposed(text: string): Map<string, Metric & { readonly seen: boolean }> {
  const found = new Map<string, Metric & { readonly seen: boolean }>()
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const series = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? \\S+$`, 'm').exec(text)
    const labels = [...(series?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label).join(', ')
    found.set(name, { type, labels, seen: series !== null })
  }
  return found
}

it.skipIf(redis === undefined)('O6: docs/metrics.md lists every metric of a service, with its type and labels, and no other', async () => {
  const name = `names-${process.pid}`
  const policy = file(`version: 1\nfailure: { deadline: 20s }\nrules:\n  - { name: ${name}, key: [ip:address], rate: 1/h, burst: 3 }\n`)
  const token = file('a-token-of-some-length\n')
  const log = ['--decision-log', join(dirname(policy), `decisions-${process.pid}.log`)]
  const store = ['--store', redis as string]
  const service = await serveBuilt(['--demo', policy, '--workers', '2', ...store, '--admin-token-file', token, ...log])
  try {
    await vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200), { timeout: 20_000 })
    for (let sent = 0; sent < 5; sent += 1) await fetch(`${service.url}/api/data`)
    await fetch(`${service.url}/v1/policy`)
    // A scrape waits 250 ms for the number of keys and a second for each worker. A later one has what came too late for it.
    let text = ''
    await expect
      .poll(async () => (text = await (await fetch(`${service.url}/metrics`)).text()))
      .toMatch(/^sluice_keys\{store="redis"\} \d+$/m)
    const [page, found] = [documented(), exposed(text)]
    expect([...found.keys()].toSorted()).toEqual([...page.keys()].toSorted())
    const differing = [...found].filter(([metric, { type, labels, seen }]) => {
      const row = page.get(metric)
      return row?.type !== type || (seen && row.labels !== labels)
    })
    expect(differing).toEqual([])
    // These metrics have no series after this traffic, because nothing that they count has happened.
    expect([...found].flatMap(([metric, { seen }]) => (seen ? [] : [metric]))).toEqual([
      'sluice_store_errors_total',
      'sluice_overgrant_bound_exceeded_total',
      'sluice_tokens_total',
    ])
  } finally {
    await service.stop()
  }
})
