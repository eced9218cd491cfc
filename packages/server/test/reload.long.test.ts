import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningProcess, serveBuilt } from './command.ts'

const policyOf = (burst: number, more = ''): string =>
  `version: 1\n${more}rules:\n  - { name: user, key: [], rate: 1/h, burst: ${burst} }\n`
const TOKEN = 'a-token-of-some-length'

describe('a service whose policy file changes', () => {
  let folder: string
  let file: string
  let service: RunningProcess
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-reload-'))
    file = join(folder, 'policy.yaml')
    writeFileSync(file, policyOf(5))
    writeFileSync(join(folder, 'token'), `${TOKEN}\n`)
    service = await serveBuilt([file, '--admin-token-file', join(folder, 'token')])
  })
  afterEach(async () => {
    expect(await service.stop()).toBe(0)
    rmSync(folder, { recursive: true, force: true })
  })
  const burst = async (): Promise<unknown> => {
    const answer = await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{"key":"a","limit":"user","cost":0.000001}' })
    return ((await answer.json()) as { limits: { limit: number }[] }).limits[0]?.limit
  }

  it('decides by the new one, and by the last good one where the new one is bad', async () => {
    expect(await burst()).toBe(5)
    writeFileSync(file, policyOf(6))
    await expect.poll(burst).toBe(6)
    writeFileSync(file, 'version: 1\nrules:\n  - { name: user, burst: many }\n  - 7\n')
    await expect.poll(service.output).toMatch(/ warn {2}policy refused, the present one stays: .*policy\.yaml:3:\d+: .*\(and \d+ more\)$/m)
    expect(await burst()).toBe(6)
    // The counter may be above 1, because the service may have read the file while it was being written.
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^sluice_policy_rejected_total [1-9]\d*$/m)
    writeFileSync(file, policyOf(7))
    await expect.poll(burst).toBe(7)
  })

  it('says that another store needs a restart', async () => {
    writeFileSync(file, policyOf(6, 'store: redis://u:secret@127.0.0.1:1\n'))
    await expect
      .poll(service.output)
      .toContain('policy.yaml: it names the store redis://***@127.0.0.1:1, and memory: is in use: another store needs a restart\n')
    expect(await burst()).toBe(5)
    expect(service.output()).not.toContain('secret')
  })

  it('reads it at SIGHUP too, which takes back what was put', async () => {
    const put = await fetch(`${service.url}/v1/policy`, { method: 'PUT', headers: { authorization: `Bearer ${TOKEN}` }, body: policyOf(9) })
    expect([put.status, await burst()]).toEqual([200, 9])
    process.kill(service.pid, 'SIGHUP')
    await expect.poll(burst).toBe(5)
    expect(service.output()).toMatch(/ info {2}policy taken from .*policy\.yaml: 1 rule, hash [\da-f]{16}$/m)
  })
})
