import { describe, expect, it } from 'vitest'
import { withoutPassword, withoutSecrets } from '../src/stores/store-name.ts'

describe('a store is named without its password', () => {
  it.each([
    ['memory:', 'memory:'],
    ['pglite:./a@b', 'pglite:./a@b'],
    ['redis://h', 'redis://h'],
    ['redis://h:6379/0', 'redis://h:6379/0'],
    ['redis://u@h', 'redis://***@h'],
    ['redis://user:12/ss@host', 'redis://***'],
    ['memory://u:se/cret@h', 'memory://***'],
    ['pglite://u:secret@h', 'pglite://***@h'],
    ['redis://:secret@h', 'redis://***@h'],
    ['redis://u:secret@h:6379/1', 'redis://***@h:6379/1'],
    ['rediss://u:secret@[::1]:6379', 'rediss://***@[::1]:6379'],
    ['redis+cluster://u:secret@h', 'redis+cluster://***@h'],
    ['redis+cluster://u:secret@a:1,b:2', 'redis+cluster://***@a:1,b:2'],
    ['redis+sentinel://u:secret@a,b/name', 'redis+sentinel://***@a,b/name'],
    ['redis://u:sec@ret@h', 'redis://***@h'],
    ['redis://u:sec:ret@h', 'redis://***@h'],
    ['redis://u:sec%40ret@h', 'redis://***@h'],
    ['redis://u:sec/ret@h', 'redis://***'],
    ['redis://u:sec?ret@h', 'redis://***'],
    ['redis://u:sec#ret@h', 'redis://***'],
    ['redis://h?password=secret', 'redis://h?***'],
    ['redis://h/0?db=1&password=secret#secret', 'redis://h/0?***'],
    ['postgres://h/db?user=u&password=sec@ret', 'postgres://***'],
    ['postgresql://u:secret@h/db?sslmode=require', 'postgresql://***@h/db?***'],
    ['REDIS://u:secret@h', 'REDIS://***@h'],
    ['redis:u:secret@h', 'redis:***'],
    ['redis:/u:secret@h', 'redis:***'],
    ['u:secret@h', 'u:***'],
    [':secret@h', '***'],
    ['localhost', 'localhost'],
  ])('%s is %s', (url, name) => {
    expect(withoutPassword(url)).toBe(name)
  })

  it.each([
    ['redis://u:secret@h', 'AUTH secret failed', 'AUTH *** failed'],
    ['redis://u:p%40ss@h', 'p@ss or p%40ss', '*** or ***'],
    ['redis://u:p@ss@h', 'getaddrinfo ENOTFOUND ss@h, p', 'getaddrinfo ENOTFOUND ***@h, ***'],
    ['redis://:se/cret@h', 'Invalid URL redis://:se/cret@h', 'Invalid URL redis://:***@h'],
    ['postgres://h?password=secret', 'no secret', 'no ***'],
    ['postgres://h?sslpassword=a%20b', 'no a b', 'no ***'],
    ['redis://h:1', 'connect ECONNREFUSED h:1', 'connect ECONNREFUSED h:1'],
    ['redis://u:100%@h', 'what 100%', 'what ***'],
  ])('a message about %s says nothing of it', (url, message, shown) => {
    expect(withoutSecrets(message, url)).toBe(shown)
  })
})
