import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizePath, pathTemplate } from '../../src/identity/path.ts'
import { draws } from '../draws.ts'

describe('the template of a path', () => {
  it.each([
    ['/', '/'],
    ['*', '*'],
    ['/users/42', '/users/{id}'],
    ['/users/42/orders/00017', '/users/{id}/orders/{id}'],
    ['/u/3f2504e0-4f89-11d3-9a0c-0305e82c3301', '/u/{id}'],
    ['/u/{3f2504e0-4f89-11d3-9a0c-0305e82c3301}', '/u/{id}'],
    ['/c/9fceb02d', '/c/{id}'],
    ['/c/9fceb02d0ae598e95dc970b74767f19372d61af8', '/c/{id}'],
    ['/c/0xdeadbeef01', '/c/{id}'],
    ['/m/507f1f77bcf86cd799439011', '/m/{id}'],
    ['/z/01arz3ndektsv4rrffq69g5fav', '/z/{id}'],
    ['/s/cus_9s6xkzknriz8i3', '/s/{id}'],
    ['/api/v1/search', '/api/v1/search'],
    ['/api/v10', '/api/v10'],
    ['/oauth2/token', '/oauth2/token'],
    ['/deadbeef', '/deadbeef'],
    ['/feedface/decade', '/feedface/decade'],
    ['/blog/top-10-limits-of-2026', '/blog/top-10-limits-of-2026'],
    ['/internationalization', '/internationalization'],
    ['/s3', '/s3'],
  ])('of %s is %s', (path, template) => {
    expect(pathTemplate(path)).toBe(template)
  })

  it('of a template is itself', () => {
    const path = fc.string({ unit: fc.constantFrom('/', 'a', 'f', '0', '9', '-', '_', '{', '}', '%', 'z'), maxLength: 60 })
    fc.assert(
      fc.property(path, (text) => {
        const once = pathTemplate(normalizePath(text).toLowerCase())
        expect(pathTemplate(once)).toBe(once)
      }),
      { seed: 20_261_121, numRuns: draws(2_000, 500) },
    )
  })
})
