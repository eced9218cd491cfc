import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { parseStoreUrl, STORE_FORM } from '../../src/policy/model/store-url.ts'

describe('the URL of a store', () => {
  it.each([
    ['memory', { scheme: 'memory', url: 'memory:', hosts: [] }],
    ['memory:', { scheme: 'memory', hosts: [] }],
    ['pglite:', { scheme: 'pglite', database: '' }],
    ['pglite:./data', { scheme: 'pglite', database: './data', hosts: [] }],
    ['redis://h', { scheme: 'redis', hosts: [{ host: 'h', port: 6379 }] }],
    ['redis://u:p%40ss@h:1/2', { scheme: 'redis', username: 'u', password: 'p@ss', database: '2', hosts: [{ host: 'h', port: 1 }] }],
    ['rediss://:pw@[2001:db8::1]:7000', { scheme: 'rediss', password: 'pw', hosts: [{ host: '2001:db8::1', port: 7000 }] }],
    [
      'redis+cluster://a:1,b,[::1]:3',
      {
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
          { host: '::1', port: 3 },
        ],
      },
    ],
    [
      'redis+sentinel://:pw@a,b:5/main/3',
      {
        primary: 'main',
        database: '3',
        password: 'pw',
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 5 },
        ],
      },
    ],
    [
      'postgres://u@h/limits?sslmode=require',
      { scheme: 'postgres', username: 'u', database: 'limits', parameters: new Map([['sslmode', 'require']]) },
    ],
    ['postgresql://h:6/d', { scheme: 'postgres', hosts: [{ host: 'h', port: 6 }] }],
    ['postgres://h/a%40b', { hosts: [{ host: 'h', port: 5432 }], database: 'a@b' }],
    ['postgres:///limits?host=/run/postgresql', { hosts: [], database: 'limits' }],
  ])('%s is read', (text, expected) => {
    expect(parseStoreUrl(text)).toMatchObject(expected)
    expect(parsePolicy(`version: 1\nrules: []\nstore: "${text}"`)).toMatchObject({ store: expect.any(String), storeUrl: expected })
  })

  it.each([
    '',
    'memory:x',
    'memory://',
    'http://h',
    'redis:h',
    'redis://',
    'redis://a,b',
    'redis://h:0',
    'redis://h:65536',
    'redis://h:port',
    'redis://h h',
    'redis://h/1/2',
    'redis://u:p@ss@h',
    'redis://u:%zz@h',
    'redis://user:12/ss@host',
    'postgres://user:12/ss@host',
    'redis://h#x',
    'redis+cluster://a,,b',
    'redis+cluster://',
    'redis+sentinel://a,b',
    'redis+sentinel://a/',
    'redis+sentinel://a/main/x',
    'redis+unix://h',
    'REDIS://h',
    `redis://${'h'.repeat(3_000)}`,
    `redis+cluster://${Array.from({ length: 65 }, () => 'h').join(',')}`,
  ])('%j is none, and is not shown', (text) => {
    expect(parseStoreUrl(text)).toBeUndefined()
    const act = (): unknown => parsePolicy(`version: 1\nrules: []\nstore: "${text}"`)
    expect(act).toThrow(/^policy\.yaml:3:8: store is not the URL of a store: expected memory:/)
    if (!STORE_FORM.includes(text)) expect(act).not.toThrow(text)
  })
})
