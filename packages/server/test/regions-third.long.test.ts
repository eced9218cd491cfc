import { freePort } from '@sluice/scripts/engines'
import { expect, it, onTestFinished } from 'vitest'
import { run, type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const file = policyFiles()
const KEY = 'a-key-of-regions-of-32-characters-or-more'
const TOKEN = 'a-token-of-some-length'

it('regions: a region that the policy did not name is added, while the others are restarted one after the other', async () => {
  const ports: Readonly<Record<string, number>> = { eu: await freePort(), us: await freePort(), zz: await freePort() }
  const [key, token] = [file(KEY), file(TOKEN)]
  const services = new Map<string, Running>()
  onTestFinished(async () => void (await Promise.all([...services.values()].map((service) => service.stop()))))
  const policyOf = (weights: Readonly<Record<string, number>>): string => {
    const peers = Object.keys(weights).map((name) => `${name}=http://127.0.0.1:${ports[name]}`)
    const rule = '{ name: all, key: [], rate: 100/s, burst: 100 }'
    return file(`version: 1\nregions: { peers: [${peers.join(', ')}], weights: ${JSON.stringify(weights)} }\nrules: [${rule}]\n`)
  }
  const start = async (self: string, policy: string): Promise<void> => {
    const args = [policy, '--region', self, '--region-key-file', key, '--admin-token-file', token, '--listen', `127.0.0.1:${ports[self]}`]
    services.set(self, await serve(args))
  }
  const regions = (self: string, ...words: readonly string[]) =>
    run(['regions', ...words, '--url', `http://127.0.0.1:${ports[self]}`, '--token-file', token])
  const status = async (self: string): Promise<unknown> => JSON.parse((await regions(self, 'status', '--json')).stdout)
  const open = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await expect.poll(() => status(name), { timeout: 60_000 }).toMatchObject({ phase: 'open' })
  }
  const two = policyOf({ eu: 600, us: 400 })
  await start('eu', two)
  await start('us', two)
  await open('eu', 'us')

  const three = policyOf({ eu: 600, us: 400, zz: 0 })
  for (const name of ['eu', 'us']) {
    await services.get(name)?.stop()
    await start(name, three)
    // The third region does not run yet. The two others open without waiting for it.
    await open('eu', 'us')
  }
  await start('zz', three)
  await open('zz')
  expect(await status('zz')).toMatchObject({ units: 0, weights: { eu: 600, us: 400 } })

  let add = await regions('us', 'add', 'zz', '--weight', '300')
  // It is refused for a moment while a region is late.
  while (add.stderr.includes('answered 409')) add = await regions('us', 'add', 'zz', '--weight', '300')
  expect(add.code).toBe(0)
  await open('eu', 'us', 'zz')
  for (const [name, units] of [
    ['eu', 420],
    ['us', 280],
    ['zz', 300],
  ] as const)
    await expect.poll(() => status(name), { timeout: 60_000 }).toMatchObject({ units, weights: { eu: 420, us: 280, zz: 300 } })
}, 300_000)
