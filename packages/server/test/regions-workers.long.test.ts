import { expect, inject, it } from 'vitest'
import { serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis
const file = policyFiles()

it.skipIf(redis === undefined)('regions of fixed parts: several workers share the part of their region', async () => {
  const name = `part-of-workers-${process.pid}`
  const policy = `version: 1
failure: { deadline: 20s }
regions: { weights: { eu: 600, us: 400 }, mode: fixed }
rules: [{ name: ${name}, key: ["header:x-user"], rate: 1/h, burst: 100 }]
`
  const service = await serveBuilt([file(policy), '--workers', '2', '--store', redis as string], { SLUICE_REGION: 'eu' })
  let passed = 0
  for (let call = 0; call < 90; call += 1) {
    // A connection of its own: the workers take turns.
    const answer = await fetch(`${service.url}/v1/check`, {
      method: 'POST',
      headers: { connection: 'close' },
      body: JSON.stringify({ key: 'ada', limit: name }),
    })
    if (((await answer.json()) as { outcome: string }).outcome === 'allowed') passed += 1
  }
  expect(passed).toBe(60)
  expect(await service.stop()).toBe(0)
})
