import { describe, expect, it } from 'vitest'
import { PolicyError } from '../../src/policy/document/policy-error.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { parseStoreUrl, storeParameterMistake } from '../../src/policy/model/store-url.ts'

describe('S6: parameters of a store URL', () => {
  it.each([
    ['redis://h?tls=1', 'has another value of tls: expected true or false'],
    ['redis://h?TLS=true', 'has the unknown parameter TLS: expected tls, ca, cert, key'],
    ['redis://h/0?ssl=true', 'has the unknown parameter ssl: expected tls, ca, cert, key'],
    ['rediss://h?caa=/x', 'has the unknown parameter caa: expected tls, ca, cert, key'],
    ['rediss://h?tls=false', 'has tls=false: expected rediss:// without it, or redis://'],
    ['redis://h?ca=/x', 'has the parameter ca and no TLS: expected rediss://'],
    ['redis+cluster://a,b?ca=/x', 'has the parameter ca and no TLS: expected tls=true'],
    ['rediss://h?cert=/x', 'has one of the parameters cert and key: expected both or none'],
    ['rediss://h?key=/x', 'has one of the parameters cert and key: expected both or none'],
    ['rediss://h?ca=/x&ca=/y', 'has the parameter ca twice: expected it once'],
    ['rediss://h?ca=', 'has the parameter ca without a value'],
    ['redis://h?password=s3cret', 'has the unknown parameter password: expected tls, ca, cert, key'],
    ['redis://u:pa?s3cret=x@h', 'has the unknown parameter: expected tls, ca, cert, key'],
    ['postgres://h/db?sslmode=requre', 'has another value of sslmode: expected disable or prefer or require'],
    ['postgres://h/db?sslmod=require', 'has the unknown parameter sslmod: expected sslmode, ssl'],
    ['pglite:x?foo=1', 'has parameters behind a question mark: expected pglite:DIR, which has none'],
    ['postgresql://h/db?ssl=yes', 'has another value of ssl: expected true or 1 or 0'],
  ])('%s is refused by name, with what is allowed', (url, mistake) => {
    expect(storeParameterMistake(url)).toContain(mistake)
    expect(parseStoreUrl(url)).toBeUndefined()
    const act = (): unknown => parsePolicy(`version: 1\nstore: "${url}"\nrules: []\n`, { filename: 'p.yaml' })
    expect(act).toThrow(PolicyError)
    expect(act).toThrow(`p.yaml:2:8: store ${mistake}`)
    expect(act).not.toThrow(/s3cret/)
  })

  it.each([
    'redis://h',
    'redis://h?',
    'redis://h?tls=false',
    'redis://h?tls=true&ca=/x/ca.pem',
    'rediss://h?tls=true',
    'rediss://h?ca=ca.pem&cert=c.pem&key=k.pem',
    'redis+cluster://a,b?tls=true&ca=%2Fx',
    'redis+sentinel://a,b/main?tls=true',
    'postgres://h/db?sslmode=verify-full&application_name=x&options=-c%20search_path%3Da',
    'postgres:///db?host=/var/run',
    'pglite:./what',
  ])('%s is taken', (url) => {
    expect(storeParameterMistake(url)).toBeUndefined()
    expect(parseStoreUrl(url)).toBeDefined()
  })
})
