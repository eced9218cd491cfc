import { topKeys } from 'sluice/observe'
import { describe, expect, it } from 'vitest'
import { busiest, countedBy } from '../src/page/busiest-keys.ts'
import { ADMIN, local } from './in-process.ts'

const POLICY = `
version: 1
rules:
  - { name: all, key: [], rate: 1/h, burst: 50 }
  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 2 }
`

describe('GET /v1/keys', () => {
  it('shows the busiest keys by pseudonym', async () => {
    const { url, post } = await local(POLICY)
    for (const user of ['lily', 'hugo', 'lily', 'lily', 'kim', 'lily', 'hugo'])
      await post('/v1/check', { path: '/', headers: { 'x-user': user } })
    const answer = await fetch(`${url}/v1/keys?top=2`, { headers: ADMIN })
    const text = await answer.text()
    expect([answer.status, JSON.parse(text)]).toEqual([
      200,
      {
        keys: [
          { rule: 'user', key: expect.stringMatching(/^[\da-f]{16}$/), requests: 4, error: 0, refused: 2 },
          { rule: 'user', key: expect.stringMatching(/^[\da-f]{16}$/), requests: 2, error: 0, refused: 0 },
        ],
      },
    ])
    // These names contain letters that are not hexadecimal digits. A pseudonym is hexadecimal, so it cannot contain them by chance.
    expect(text).not.toMatch(/lily|hugo/)
    const { keys } = (await (await fetch(`${url}/v1/keys`, { headers: ADMIN })).json()) as { keys: unknown[] }
    expect(keys).toHaveLength(3)
  })

  it.each(['0', '-1', '1001', '1.5', 'x', '', '1e3'])('refuses top=%s', async (top) => {
    const { url } = await local(POLICY)
    const answer = await fetch(`${url}/v1/keys?top=${top}`, { headers: ADMIN })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('expected a whole number from 1 to 1000')])
  })
})

describe('the busiest keys of several processes', () => {
  it('are added up, and what one of them may have missed is counted and reported as error', () => {
    const [one, other] = [topKeys(2), topKeys(2)]
    for (const key of ['a', 'a', 'a', 'b', 'c']) one.onCharge({ rule: 'r', key, allowed: key !== 'a' })
    for (const key of ['c', 'c', 'c', 'c', 'd', 'd']) other.onCharge({ rule: 'r', key, allowed: true })
    expect(busiest([countedBy(one), countedBy(other)], 9)).toEqual([
      { rule: 'r', key: 'c', requests: 6, error: 1, refused: 0 },
      { rule: 'r', key: 'a', requests: 5, error: 2, refused: 3 },
      { rule: 'r', key: 'd', requests: 4, error: 2, refused: 0 },
    ])
    expect(busiest([countedBy(one), countedBy(other)], 1)).toHaveLength(1)
    expect(busiest([], 9)).toEqual([])
  })
})
