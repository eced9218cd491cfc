import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { pseudonymOf } from '../src/identity/identities.ts'
import { ADMIN, local } from './in-process.ts'

const SECRET = 'ada-4111111111111111'
const NUMBER = 4_111_111_111
const POLICY = `
version: 1
identifiers: { mode: hmac, secretFile: ./secret }
rules:
  - { name: user, key: ["header:x-user", "method:"], rate: 1/h, burst: 3 }
  - { name: address, key: ["ip:address"], rate: 1/h, burst: 3 }
`

describe('under a policy of pseudonyms', () => {
  const pseudonym = pseudonymOf(randomBytes(32))

  it('what an operator is shown of a key does not name it', async () => {
    const { url, post } = await local(POLICY, { pseudonym })
    await post('/v1/check', { path: '/', headers: { 'x-user': SECRET }, ip: '203.0.113.77' })
    const keys = [SECRET, '203.0.113.77']
    const shown = await Promise.all(keys.map(async (key) => (await fetch(`${url}/v1/keys/${key}`, { headers: ADMIN })).text()))
    expect(JSON.parse(shown[1] as string)).toMatchObject({
      states: [{}, { name: 'address', remaining: 2, state: `policy:address:tb:=${pseudonym('ip:address\u0000203.0.113.77')}` }],
    })
    for (const key of keys) expect(shown.join('\n')).not.toContain(key)
  })

  it('no problem body and no log names the key of a request', async () => {
    const { url, post } = await local(POLICY, { pseudonym })
    const log = vi.spyOn(process.stderr, 'write')
    const requests: [string, string, string?][] = [
      ['PATCH', `/v1/keys/${SECRET}`],
      ['POST', `/v1/keys/${SECRET}/block`],
      ['GET', `/v1/keys/${SECRET}/more`],
      ['GET', `/v1/keys/${SECRET}?limit=none`],
      ['GET', `/v1/keys/${SECRET}%ff`],
      ['PUT', `/v1/keys/${SECRET}/block`, `{"duration":${SECRET}`],
      ['PUT', `/v1/keys/${SECRET}/block`, '{"duration":"soon"}'],
    ]
    const bodies = [
      `{"key":${SECRET}}`,
      `{"key":"${SECRET}}`,
      `"${SECRET}`,
      SECRET,
      `{"key":["${SECRET}"]}`,
      `{"key":${NUMBER}}`,
      `{"path":"/","ip":${NUMBER}}`,
      `{"path":"/","headers":{"x-user":${NUMBER}}}`,
    ]
    const answers = await Promise.all([
      ...requests.map(([method, path, body]) =>
        fetch(`${url}${path}`, { method, headers: ADMIN, ...(body === undefined ? {} : { body }) }),
      ),
      ...bodies.map((body) => post('/v1/check', body)),
    ])
    const logged = JSON.stringify(log.mock.calls)
    log.mockRestore()
    expect(answers.map(({ status }) => status)).toEqual([405, 405, 404, 404, 400, 400, 400, ...bodies.map(() => 400)])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    for (const text of [...texts, logged]) expect(text).not.toMatch(/ada-|4111/)
  })
})
