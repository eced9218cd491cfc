import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { run } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-check-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (text: string): string => {
  const path = join(folder, 'policy.yaml')
  writeFileSync(path, text)
  return path
}

describe('check', () => {
  it('says what a policy means', async () => {
    const ran = await run(['check', 'apps/server/policies/rate-limiting-at-scale.yaml'])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain('endpoint:/api/search: enforce, cost 5, on store failure deny')
    expect(ran.stdout).toMatch(/warning: .*burst/)
    const told = JSON.parse((await run(['check', '--json', 'apps/server/policies/rate-limiting-at-scale.yaml'])).stdout) as {
      rules: unknown[]
    }
    expect(told.rules).toHaveLength(5)
  })

  it('names file, line, column, value and what is allowed', async () => {
    const path = file('version: 1\nrules:\n  - name: a\n    key: []\n    rate: 10/fortnight\n    burst: 10\n')
    const ran = await run(['check', path])
    expect([ran.code, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr).toContain(`${path}:5:11`)
    expect(ran.stderr).toContain('10/fortnight')
    expect(ran.stderr).toContain('10/s')
  })
})
