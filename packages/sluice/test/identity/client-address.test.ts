import { describe, expect, it } from 'vitest'
import { clientAddress, isTrustedPeer } from '../../src/identity/client-address.ts'
import type { Headers } from '../../src/identity/headers.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'

const PROXY = '10.0.0.1'
const trust = trustProxies(['loopback', 'uniquelocal', '2001:db8:ffff::/48'])
const addressOf = (xff: string, peer: string | undefined = PROXY): string | undefined =>
  clientAddress(peer, { 'x-forwarded-for': xff }, trust)

describe('the client behind trusted proxies (X-Forwarded-For)', () => {
  it.each([
    ['one hop', '203.0.113.7', '203.0.113.7'],
    ['the right-most that is not trusted', '6.6.6.6, 203.0.113.7', '203.0.113.7'],
    ['through several proxies', '6.6.6.6, 203.0.113.7, 10.0.0.3,10.0.0.2', '203.0.113.7'],
    ['all trusted: the furthest', '10.0.0.9, 10.0.0.2', '10.0.0.9'],
    ['a port', '203.0.113.7:51234', '203.0.113.7'],
    ['IPv6 in brackets with a port', '[2001:DB8::0:17]:4711', '2001:db8::17'],
    ['IPv6 in brackets', '[2001:db8::17]', '2001:db8::17'],
    ['IPv6 with a zone', 'fe80::1%eth0', 'fe80::1'],
    ['IPv4 in IPv6', '::FFFF:cb00:7107', '203.0.113.7'],
    ['a trusted hop in IPv6 clothes', '203.0.113.7, ::ffff:10.0.0.2', '203.0.113.7'],
    ['octet too large: the nearest valid hop', '203.0.113.7, 1.2.2.355', PROXY],
    ['octal', '0177.0.0.1', PROXY],
    ['unknown stops the walk', '203.0.113.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['hidden', '_hidden', PROXY],
    ['garbage', 'garbage', PROXY],
    ['U8: empty members are ignored', '203.0.113.7, , 10.0.0.2', '203.0.113.7'],
    ['U8: commas at the end', '203.0.113.7,,', '203.0.113.7'],
    ['U8: blanks and tabs between commas', '6.6.6.6, 203.0.113.7 , \t, 10.0.0.2, ', '203.0.113.7'],
    ['U8: empty members alone', ', ,,', PROXY],
    ['U8: an empty member hides nothing that cannot be read', '203.0.113.7, unknown,,', PROXY],
    ['a comma at the start', ',203.0.113.7', '203.0.113.7'],
    ['empty', '', PROXY],
    ['a zone on IPv4', '203.0.113.7%eth0', PROXY],
    ['text behind the brackets', '[::1]x', PROXY],
    ['IPv4 in brackets', '[203.0.113.7]', PROXY],
  ])('%s', (_, xff, client) => {
    expect(addressOf(xff)).toBe(client)
  })

  it('accumulates on one key while the left-most hop rotates', () => {
    const keys = Array.from({ length: 50 }, (_, index) => addressOf(`9.9.9.${index}, 203.0.113.7`))
    expect(new Set(keys)).toEqual(new Set(['203.0.113.7']))
  })

  it('joins repeated fields in order', () => {
    expect(clientAddress(PROXY, { 'x-forwarded-for': ['6.6.6.6', '203.0.113.7'] }, trust)).toBe('203.0.113.7')
  })

  it.each([
    ['plain', '198.51.100.2', '198.51.100.2'],
    ['mapped', '::ffff:198.51.100.2', '198.51.100.2'],
    ['with a zone', 'fe80::1%en0', 'fe80::1'],
    ['none', undefined, undefined],
    ['empty', '', undefined],
    ['no address', 'unix:/run/x', undefined],
  ])('a peer that is not trusted is the client itself: %s', (_, peer, client) => {
    const headers: Headers = {
      'x-forwarded-for': '6.6.6.6',
      'cf-connecting-ip': '6.6.6.6',
      'x-real-ip': '6.6.6.6',
      'true-client-ip': '6.6.6.6',
      forwarded: 'for=6.6.6.6',
    }
    expect(clientAddress(peer, headers, trust)).toBe(client)
    expect(isTrustedPeer(peer, trust)).toBe(false)
  })

  it('trusts a proxy in any spelling of its address', () => {
    for (const peer of ['::ffff:10.0.0.1', '::FFFF:a00:1', '2001:DB8:FFFF::9']) expect(addressOf('203.0.113.7', peer)).toBe('203.0.113.7')
  })

  it('is bounded in length and hops, from the right', () => {
    expect(addressOf(`${'9'.repeat(1_000_000)}, 203.0.113.7`)).toBe('203.0.113.7')
    expect(addressOf('10.0.0.2,'.repeat(100_000).slice(0, -1))).toBe('10.0.0.2')
    expect(addressOf(`203.0.113.7, ${'10.0.0.2, '.repeat(40)}10.0.0.3`)).toBe('10.0.0.2')
    expect(addressOf(':'.repeat(8_000))).toBe(PROXY)
    expect(addressOf(`203.0.113.7${','.repeat(8_000)}`)).toBe('203.0.113.7')
    expect(addressOf(`203.0.113.7${','.repeat(100_000)}`)).toBe(PROXY)
    expect(addressOf(`203.0.113.7${', 10.0.0.2,'.repeat(40)}`)).toBe('10.0.0.2')
  })
})

describe('the client behind trusted proxies (Forwarded, RFC 7239)', () => {
  const forwarded = trustProxies(['loopback', 'uniquelocal'], 'Forwarded')

  it.each([
    ['for=203.0.113.7', '203.0.113.7'],
    ['For=203.0.113.7;proto=https;by=10.0.0.1', '203.0.113.7'],
    ['proto=http; for="203.0.113.7:4711"', '203.0.113.7'],
    ['for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['for="[2001:db8:cafe::17]:_p1"', '2001:db8:cafe::17'],
    ['for=6.6.6.6, for=203.0.113.7, for=10.0.0.2', '203.0.113.7'],
    ['for=6.6.6.6;host="a,b;c\\"d", for=203.0.113.7', '203.0.113.7'],
    ['host="x,for=6.6.6.6";for=203.0.113.7', '203.0.113.7'],
    ['for="6.6.6.6, for=203.0.113.7', '203.0.113.7'],
    ['for=203.0.113.7, for=unknown', PROXY],
    ['for=203.0.113.7, for=_hidden', PROXY],
    ['for=203.0.113.7, for="_SEVKISEK"', PROXY],
    ['for=6.6.6.6;for=203.0.113.7', PROXY],
    ['for=[2001:db8::17]', PROXY],
    ['for="2001:db8::17"', PROXY],
    ['for=2001:db8::17', PROXY],
    ['by=203.0.113.7', PROXY],
    ['for = 203.0.113.7', PROXY],
    ['for="203.0.113.7', PROXY],
    ['203.0.113.7', PROXY],
    ['', PROXY],
    ['for=203.0.113.7, , for=10.0.0.2,,', '203.0.113.7'],
    [',for=203.0.113.7', '203.0.113.7'],
    [',', PROXY],
  ])('%s gives %s', (header, client) => {
    expect(clientAddress(PROXY, { forwarded: header }, forwarded)).toBe(client)
  })

  it('lets an open quote on the left swallow nothing', () => {
    expect(clientAddress(PROXY, { forwarded: 'for=6.6.6.6;x=", for="[2001:db8::1]"' }, forwarded)).toBe('2001:db8::1')
    expect(clientAddress(PROXY, { forwarded: `${'"'.repeat(100_000)}, for=203.0.113.7` }, forwarded)).toBe('203.0.113.7')
  })

  it('reads only the configured source', () => {
    const headers: Headers = { forwarded: 'for=203.0.113.7', 'x-forwarded-for': '6.6.6.6' }
    expect(clientAddress(PROXY, headers, forwarded)).toBe('203.0.113.7')
    expect(clientAddress(PROXY, headers, trust)).toBe('6.6.6.6')
    expect(clientAddress(PROXY, { forwarded: 'for=203.0.113.7' }, trust)).toBe(PROXY)
  })
})

describe('a header of one address', () => {
  const single = trustProxies(['loopback', 'uniquelocal'], 'X-Real-IP')

  it('is read from a trusted peer, whole or not at all', () => {
    expect(clientAddress(PROXY, { 'x-real-ip': '203.0.113.7' }, single)).toBe('203.0.113.7')
    expect(clientAddress(PROXY, { 'x-real-ip': ' 203.0.113.7 ' }, single)).toBe('203.0.113.7')
    expect(clientAddress(PROXY, { 'x-real-ip': '203.0.113.7, 6.6.6.6' }, single)).toBe(PROXY)
    expect(clientAddress(PROXY, { 'x-real-ip': ['203.0.113.7', '6.6.6.6'] }, single)).toBe(PROXY)
    expect(clientAddress('198.51.100.2', { 'x-real-ip': '6.6.6.6' }, single)).toBe('198.51.100.2')
  })
})

describe('what may be trusted', () => {
  it.each([
    '::ffff:10.0.0.0/8',
    '::ffff:0:0/95',
    '0:0:0:0:0:ffff:a00:0/64',
    '0.0.0.0/0',
    '::/0',
    '::ffff:0:0/96',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/255.0.0.0',
    '10.0.0/8',
    '1',
    'all',
    'Loopback',
    '',
    '10.0.0.1 ',
    '10.0.0.0/',
  ])('refuses %j', (entry) => {
    expect(() => trustProxies([entry])).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
  })

  it('takes mapped networks by their bits', () => {
    const mapped = trustProxies(['::ffff:10.0.0.0/104'])
    expect(clientAddress('10.9.9.9', { 'x-forwarded-for': '203.0.113.7' }, mapped)).toBe('203.0.113.7')
    expect(clientAddress('11.0.0.1', { 'x-forwarded-for': '203.0.113.7' }, mapped)).toBe('11.0.0.1')
  })

  it.each([
    ['loopback', '127.8.8.8', '128.0.0.1'],
    ['loopback', '::1', '::2'],
    ['linklocal', 'fe80::9%eth0', 'fec0::1'],
    ['linklocal', '169.254.3.4', '169.255.0.1'],
    ['uniquelocal', 'fd00::1', 'fe00::1'],
    ['uniquelocal', '172.31.0.1', '172.32.0.1'],
    ['10.1.2.3/8', '10.200.0.1', '11.0.0.1'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ])('%s holds %s and not %s', (entry, inside, outside) => {
    const named = trustProxies([entry])
    expect(isTrustedPeer(inside, named)).toBe(true)
    expect(isTrustedPeer(outside, named)).toBe(false)
  })

  it('refuses a source that is no header name, and trusts nobody by default', () => {
    expect(() => trustProxies([], 'x forwarded')).toThrow(/name of one header/)
    expect(isTrustedPeer('127.0.0.1', trustProxies([]))).toBe(false)
  })
})
