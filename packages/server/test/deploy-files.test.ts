import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const textOf = (name: string): string => readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8')
const numberIn = (text: string, form: RegExp): number => Number(form.exec(text)?.[1])

describe('the files for a deployment', () => {
  it.each([
    ['compose.postgres.yaml', /stop_grace_period: (\d+)s$/m],
    ['compose.redis.yaml', /stop_grace_period: (\d+)s$/m],
    ['compose.yugabytedb.yaml', /stop_grace_period: (\d+)s$/m],
    ['sluice.service', /^TimeoutStopSec=(\d+)$/m],
    ['kubernetes.yaml', /terminationGracePeriodSeconds: (\d+)$/m, /command: \[sleep, '(\d+)'\]/],
  ])('%s: the service is killed only after the time in which it ends with workers', (name, limit, pause?: RegExp) => {
    expect(textOf('docs/service.md')).toContain('With `--workers` it ends within eleven seconds.')
    const text = textOf(`deploy/${name}`)
    const seconds = numberIn(text, limit) - (pause === undefined ? 0 : numberIn(text, pause))
    expect(seconds).toBeGreaterThan(11)
  })
})
