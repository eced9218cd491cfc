import { expect, it } from 'vitest'
import { holdTokens } from '../src/identity/hold-tokens.ts'

it('a token is believed only as it was returned: not with another last digit, padding or digits between', () => {
  const tokens = holdTokens(() => undefined, true)
  const token = tokens.tokenOf('order.7', 'k') ?? ''
  expect(tokens.idOf(token, 'k')).toBe('order.7')
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = Array.from(digits)
    .map((digit) => token.slice(0, -1) + digit)
    .filter((other) => other !== token)
  for (const wrong of [...others, `${token}=`, `${token}==`, `${token} `, token.replace(/..$/, '!$&')])
    expect([wrong, tokens.idOf(wrong, 'k')]).toEqual([wrong, undefined])
})
