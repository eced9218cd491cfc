import { describe, expect, it } from 'vitest'
import { run, type Running, serve } from './command.ts'
import { local } from './in-process.ts'
import { policyFiles } from './policy-file.ts'

const file = policyFiles()
const KEY = 'a-key-of-regions-of-32-characters-or-more'
const TOKEN = 'a-token-of-some-length'
const RULE = 'rules: [{ name: user, key: ["header:x-user"], rate: 100/s, burst: 100 }]\n'
const policy = (regions: string): string => `version: 1\nregions: ${regions}\n${RULE}`

const start = (self: string, text: string, ...args: readonly string[]): Promise<Running> =>
  serve([file(text), '--region', self, '--admin-token-file', file(TOKEN), ...args])

describe('regions status', () => {
  it('says what a region holds, and how it reaches the others', async () => {
    const key = ['--region-key-file', file(KEY)]
    const text = policy('{ peers: [eu=http://127.0.0.1:1, us=http://127.0.0.1:2] }')
    const us = await start('us', text, ...key)
    // The address that us has for eu is wrong, and need not be right: only eu reads, and us answers.
    const eu = await start('eu', text, ...key, '--peers', `us=${us.url}`)
    const token = ['--token-file', file(TOKEN)]
    const status = async ({ url }: Running): Promise<Record<string, unknown>> =>
      JSON.parse((await run(['regions', 'status', '--url', url, ...token, '--json'])).stdout) as Record<string, unknown>
    await expect
      .poll(() => status(eu), { timeout: 20_000 })
      .toMatchObject({ phase: 'closed', peers: { us: { failures: 0, lagMs: expect.any(Number) } } })
    expect(await status(eu)).toMatchObject({ self: 'eu', mode: 'escrow', era: 0, units: 0, cells: 0, weights: { eu: 500, us: 500 } })
    await expect
      .poll(() => status(us), { timeout: 20_000 })
      .toMatchObject({ peers: { eu: { failures: expect.any(Number), error: expect.any(String) } } })
    const { stdout, code } = await run(['regions', 'status', '--url', us.url, ...token])
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('region us, era 0, learning: it holds nothing until all other regions have answered\n'),
    ])
    expect(stdout).toMatch(
      /^region +weight +address +read +reads +failed\neu +500 +http:\/\/127\.0\.0\.1:1\/ +never +[\d.]+ s ago +\d+\nus +500 +this region\n/m,
    )
    expect(stdout).toContain('eu cannot be read: http://127.0.0.1:1 cannot be reached')
    for (const service of [eu, us]) expect(await service.stop()).toBe(0)
  })

  it('needs the token, and a service with regions', async () => {
    const { url } = await local(`version: 1\n${RULE}`)
    expect(await run(['regions', 'status', '--url', url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs the bearer token'),
    })
    const token = ['--token-file', file('test-token-0123456789')]
    const ran = await run(['regions', 'status', '--url', url, ...token])
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('This service shares its limits with no other region.')])
    const unknown = await run(['regions', 'move', '--url', url])
    expect([unknown.code, unknown.stderr]).toEqual([
      3,
      expect.stringContaining('regions: ACTION is "move": expected status, add, adopt, drain, remove'),
    ])
    expect((await run(['regions', 'status', '--url', 'http://127.0.0.1:1'])).code).toBe(2)
  })

  it('of fixed parts has the weights', async () => {
    const eu = await start('eu', policy('{ weights: { eu: 700, us: 300 }, mode: fixed }'))
    const { stdout } = await run(['regions', 'status', '--url', eu.url, '--token-file', file(TOKEN)])
    expect(stdout).toBe('region eu, mode fixed: every region keeps its part for good\n\nregion  weight\neu      700\nus      300\n')
    expect(await eu.stop()).toBe(0)
  })
})
