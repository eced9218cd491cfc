import { describe, expect, it } from 'vitest'
import { canonicalValue, parseSource, type Source } from '../../src/identity/source.ts'

describe('a value that a person wrote, as its source would give it', () => {
  it.each([
    ['ip:address', '192.0.2.1', '192.0.2.1'],
    ['ip:address', '::ffff:192.0.2.1', '192.0.2.1'],
    ['ip:address', '2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['ip:address', '2001:db8:1:2::/64', '2001:db8:1:2::/64'],
    ['ip:address', '2001:db8:1:2::/48', undefined],
    ['ip:address', 'localhost', undefined],
    ['ip:/24', '192.0.2.77', '192.0.2.0/24'],
    ['ip:/24', '192.0.2.0/24', '192.0.2.0/24'],
    ['ip:/24', '192.0.2.0/25', undefined],
    ['ip:/24/48', '2001:db8:1:2::9', '2001:db8:1::/48'],
    ['path:', '/API//./Items/', '/api/items'],
    ['path:', '/api;v=1/%2569tems', '/api/items'],
    ['path:', '(ambiguous)', '(ambiguous)'],
    ['path:template', '/Users/42', '/users/{id}'],
    ['method:', 'head', 'GET'],
    ['method:', 'post', 'POST'],
    ['host:', 'API.Example.COM.', 'api.example.com'],
    ['ua:bot', 'true', 'true'],
    ['ua:bot', 'yes', undefined],
    ['header:x', ' As It Is ', ' As It Is '],
    ['jwt:sub', 'User', 'User'],
    ['const:a', 'a', 'a'],
  ])('%s of %j is %j', (source, text, value) => {
    expect(canonicalValue(parseSource(source) as Source, text)).toBe(value)
  })
})
