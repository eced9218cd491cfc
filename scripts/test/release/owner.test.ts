import { describe, expect, it } from 'vitest'
import { accountOf, missingOf, readOwner } from '../../src/release/owner.ts'
import { tree } from '../tree.ts'

const OWNER = {
  repository: 'https://github.com/o/n',
  homepage: 'https://o.github.io/n',
  bugs: 'https://github.com/o/n/issues',
  publisher: 'token',
}

describe('release.json', () => {
  it('lacks nothing if every field can be used', () => expect(missingOf(OWNER)).toEqual([]))

  it.each([
    ['repository', ''],
    ['repository', 'git@github.com:o/n.git'],
    ['repository', 'https://github.com'],
    ['homepage', 'o.github.io'],
    ['bugs', ''],
    ['publisher', 'me'],
  ])('names the field %s if it is %j', (field, value) => {
    const [line, ...others] = missingOf({ ...OWNER, [field]: value })
    expect(others).toEqual([])
    expect(line).toContain(`release.json: ${field} is ${value === '' ? 'empty' : JSON.stringify(value)}: `)
  })

  it('refuses fields that it does not know', () => {
    const root = tree({ 'release.json': '{"homepgae":""}' })
    expect(() => readOwner(root)).toThrow('unknown field homepgae; known are repository')
  })

  it('names what the account needs', () => {
    expect(accountOf(OWNER, {})).toEqual([expect.stringContaining('NODE_AUTH_TOKEN is not set')])
    expect(accountOf(OWNER, { NODE_AUTH_TOKEN: 'x' })).toEqual([])
    const trusted = { ...OWNER, publisher: 'trusted-publishing' }
    expect(accountOf(trusted, {})).toEqual([expect.stringContaining('works only inside .github/workflows/release.yml')])
    expect(accountOf(trusted, { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://x' })).toEqual([])
  })
})
