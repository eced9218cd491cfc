import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { RULE, ROOT } from '../../src/policy/native/grammar.ts'

const page = readFileSync(new URL('../../../../docs/policy.md', import.meta.url), 'utf8')
const fences = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? '')

describe('the page about policies', () => {
  it.each(fences)('has an example that loads without a warning: %j', (text) => {
    expect(parsePolicy(text).warnings).toEqual([])
  })

  it('has examples, and names every field of a policy and of a rule', () => {
    expect(fences.length).toBeGreaterThanOrEqual(6)
    for (const name of [...ROOT.names, ...RULE.names]) expect(page).toMatch(new RegExp(`\`${name}\`|^#+ ${name}$|^ *${name}:`, 'm'))
  })
})
