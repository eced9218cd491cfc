import { describe, expect, it } from 'vitest'
import { createGate, isPageOf, MAX_SKEW_MS, type RegionKeys, signPage, signRequest } from '../src/regions/signatures.ts'
import { REGION_PATH } from '../src/regions/peers.ts'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const file = policyFiles()
const [OLD, NEW] = ['an-old-key-of-32-characters-or-more', 'a-new-key-of-32-characters-or-more!']
const NOW = 1_763_692_800_000
const POLICY = 'version: 1\nrules: [{ name: user, key: ["header:x-user"], rate: 100/s, burst: 100 }]\n'

describe('requests of regions', () => {
  const signed = signRequest([OLD], 'us', 'body', NOW)
  const gate = (keys: RegionKeys = [OLD], self = 'us') => createGate(self, () => keys)

  it('are accepted once, by any of the keys', () => {
    const us = gate()
    expect(us.admit({ ...signed }, 'body', NOW)).toEqual({ nonce: signed['sluice-nonce'] })
    expect(us.admit({ ...signed }, 'body', NOW + 1)).toEqual({ why: 'it was sent before' })
    expect(gate([NEW, OLD]).admit({ ...signed }, 'body', NOW)).toHaveProperty('nonce')
    // A nonce is forgotten when its request is too old.
    const later = NOW + 2 * MAX_SKEW_MS
    expect(us.admit({ ...signRequest([OLD], 'us', '', later) }, '', later)).toHaveProperty('nonce')
    expect(us.admit({ ...signed }, 'body', later)).toEqual({ why: 'its time differs by 120 s: synchronize the clocks of the regions' })
  })

  it.each([
    ['another body', gate(), { ...signed }, 'other', NOW, 'its signature is not one of region us'],
    ['another region', gate([OLD], 'ap'), { ...signed }, 'body', NOW, 'its signature is not one of region ap'],
    ['another key', gate([NEW]), { ...signed }, 'body', NOW, 'its signature is not one of region us'],
    ['another time', gate(), { ...signed, 'sluice-time': String(NOW + 1) }, 'body', NOW, 'its signature is not one of'],
    ['another nonce', gate(), { ...signed, 'sluice-nonce': 'x' }, 'body', NOW, 'its signature is not one of'],
    ['no signature', gate(), {}, 'body', NOW, 'it is not signed'],
    ['a time that is long ago', gate(), { ...signed }, 'body', NOW + 61_000, 'its time differs by 61 s'],
    ['a time to come', gate(), { ...signed }, 'body', NOW - 61_000, 'its time differs by 61 s'],
    ['no time', gate(), signRequest([OLD], 'us', 'body', Number.NaN), 'body', NOW, 'its time differs by NaN s'],
  ])('are refused with %s', (_name, us, headers, body, now, why) => {
    expect(us.admit({ ...headers }, body, now)).toEqual({ why: expect.stringContaining(why) })
  })

  it('have an answer that is signed too, for this request only', () => {
    const signature = signPage([OLD], 'n', 'page')
    expect([isPageOf([NEW, OLD], 'n', 'page', signature), isPageOf([OLD], 'm', 'page', signature)]).toEqual([true, false])
    expect([isPageOf([OLD], 'n', 'pages', signature), isPageOf([OLD], 'n', 'page', null)]).toEqual([false, false])
  })
})

describe('serve --region', () => {
  const key = (): string => file(`${OLD}\n`)
  const RUNS_OVER =
    '--region runs over memory:, redis://, rediss:// or redis+sentinel:// with one primary, ' +
    'and postgres:// without concurrency=compare-and-swap, in this version, and the store is'
  const peers = ['--peers', 'us=http://127.0.0.1:1']

  it.each([
    [['--region', 'eu'], '--region needs --peers, or regions in the policy'],
    [peers, '--peers, --region-weights and --region-key-file need --region'],
    [['--region', 'eu', ...peers, '--region-weights', 'eu=600'], '--region-weights is for eu, and the regions are eu, us'],
    [['--region', 'eu', ...peers, '--region-weights', 'eu=600,us=500'], '--region-weights is "eu=600,us=500": expected NAME=N'],
    [['--region', 'eu', ...peers, '--region-weights', 'eu=600,us'], '--region-weights is "us": expected NAME=N'],
    [['--region', 'e u', ...peers], '--region is "e u": expected a name of letters'],
    [['--region', 'us', ...peers], '--peers names no region other than us'],
    [['--region', 'eu', '--peers', 'us=http://h,us=http://h'], '--peers is "us=http://h": expected NAME=URL,... with a name'],
    [['--region', 'eu', '--peers', 'us'], '--peers is "us": expected NAME=URL'],
    [['--region', 'eu', '--peers', 'us=redis://h'], '--peers is "redis://h": expected an http or https address without a query'],
    [['--region', 'eu', '--peers', 'us=http://a:secret@h'], '--peers: an address has a login'],
    [['--region', 'eu', ...peers, '--workers', '2'], '--region needs one process'],
    [['--region', 'eu', ...peers, '--store', 'redis+cluster://u:secret@h'], `${RUNS_OVER} redis+cluster://`],
    [['--region', 'eu', ...peers, '--store', 'postgres://u:secret@h?concurrency=compare-and-swap'], `${RUNS_OVER} postgres://`],
    [['--region', 'eu', ...peers, '--store', 'pglite:folder'], `${RUNS_OVER} pglite:folder`],
  ])('refuses %j', async (args, message) => {
    const ran = await run(['serve', file(POLICY), '--region-key-file', key(), ...args], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    expect(ran.stderr).toContain(message)
    expect(ran.stderr).not.toContain('secret')
  })

  it('accepts --peers with all regions, this one included, as the policy does', async () => {
    const text = 'eu=http://127.0.0.1:1,us=http://127.0.0.1:2'
    const token = file('a-token-of-some-length')
    const args = ['--region', 'eu', '--region-key-file', key(), '--admin-token-file', token, '--peers', text]
    const service = await serve([file(POLICY), ...args])
    const status = await run(['regions', 'status', '--url', service.url, '--token-file', token, '--json'])
    const { peers: reached } = JSON.parse(status.stdout) as { peers: object }
    expect(Object.keys(reached)).toEqual(['us'])
    expect(await service.stop()).toBe(0)
  })

  it('refuses a key that is too short, and a store that sends no units, without showing the key', async () => {
    const short = await run(['serve', file(POLICY), '--region', 'eu', ...peers, '--region-key-file', file('short')], { PORT: '0' })
    expect([short.code, short.stderr]).toEqual([3, expect.stringContaining('expected 1 to 4 lines, each a key of 32 to 4096')])
    expect(short.stderr).not.toContain('short\n')
    const none = await run(['serve', file(POLICY), '--region', 'eu', ...peers, '--region-key-file', '/no/file'], { PORT: '0' })
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('region key file /no/file cannot be read')])
  })

  it('answers regions only, counts what it refuses, and shares its limits by flags or variables', async () => {
    const service = await serve([file(POLICY)], {
      SLUICE_REGION: 'eu',
      SLUICE_PEERS: 'us=http://127.0.0.1:1',
      SLUICE_REGION_KEY_FILE: key(),
    })
    const post = (headers: Record<string, string>, body: string): Promise<Response> =>
      fetch(`${service.url}${REGION_PATH}`, { method: 'POST', headers, body })
    const refused = await post({}, '{}')
    expect([refused.status, await refused.json()]).toEqual([
      401,
      expect.objectContaining({ detail: 'The request of a region is refused: it is not signed.' }),
    ])
    const request = JSON.stringify({
      version: 1,
      from: 'us',
      to: 'eu',
      rows: null,
      needs: [],
      after: 0,
      needsAt: { run: 'p', at: 0 },
      hello: null,
    })
    const signed = signRequest([OLD], 'eu', request, Date.now())
    const answer = await post({ ...signed }, request)
    const page = await answer.text()
    expect([answer.status, JSON.parse(page)]).toEqual([200, expect.objectContaining({ from: 'eu', to: 'us', rows: [] })])
    expect(isPageOf([OLD], signed['sluice-nonce'], page, answer.headers.get('sluice-signature'))).toBe(true)
    expect((await post({ ...signRequest([OLD], 'eu', '{}', Date.now()) }, '{}')).status).toBe(400)
    expect((await post({ ...signRequest([OLD], 'eu', '{', Date.now()) }, '{')).status).toBe(400)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('sluice_region_phase 2\n')
    expect(metrics).toContain('sluice_region_requests_refused_total 1\n')
    await expect.poll(service.output).toContain('region us cannot be read: http://127.0.0.1:1 cannot be reached')
    expect(await service.stop()).toBe(0)
  })
})
