import { describe, expect, it } from 'vitest'
import { withHost } from '../../src/http/host-of-url.ts'

describe('the host of a URL', () => {
  it.each([
    [undefined, 'https://api.example.com/a', { host: 'api.example.com' }],
    [undefined, 'http://a.1/', { host: 'a.1' }],
    [undefined, 'data:text/plain,hello', {}],
    ['api.example.com', 'https://api.example.com', {}],
    ['API.example.com.:443', 'https://api.example.com/', {}],
    ['api.example.com', 'https://api.example.com:8443?a', {}],
    ['[2001:DB8::1]:80', 'http://[2001:db8::1]/', {}],
    ['api.example.com', 'data:text/plain,hello', {}],
    ['other.example.com', 'https://api.example.com/', { ':authority': 'api.example.com' }],
    ['', 'https://api.example.com/', { ':authority': 'api.example.com' }],
    ['u@a.example', 'http://v@b.example/', { ':authority': 'v@b.example' }],
  ])('Host %j and URL %j: adds %j', (host, url, added) => {
    const headers: Record<string, string> = { accept: '*/*', ...(host === undefined ? {} : { host }) }
    expect(withHost(headers, url)).toEqual({ ...headers, ...added })
  })
})
