import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, groupAddress, parseAddress } from '../../src/identity/address.ts'

const SEED = 20_261_122

describe('addresses', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8:0000:0001:0000:0000:0000:0001', '2001:db8:0:1::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['fe80::', 'fe80::'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['::FFFF:0102:0304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['::1.2.3.4', '::102:304'],
    ['2001:db8:1234:5678::1.2.3.4', '2001:db8:1234:5678::102:304'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ])('reads %s as %s', (text, canonical) => {
    const address = parseAddress(text)
    expect(address && formatAddress(address)).toBe(canonical)
  })

  it.each([
    '',
    ' ',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.2.355',
    '01.2.3.4',
    '1.2.3.04',
    '0x7f.0.0.1',
    '127.1',
    '2130706433',
    '1.2.3.4 ',
    '1.2.3.4:80',
    '+1.2.3.4',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    'g::1',
    '::1.2.3',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '[::1]',
    '::1%eth0',
    '1:2:3:4:5:6:7:1.2.3.4',
    'unknown',
    '_hidden',
    '::ffff:1.2.3.355',
    '0'.repeat(100_000),
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  it('gives one text per address, whatever the spelling', () => {
    const words = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(words, fc.boolean(), (address, upper) => {
        const long = address.map((word) => word.toString(16).padStart(4, '0')).join(':')
        const short = formatAddress(parseAddress(upper ? long.toUpperCase() : long) ?? [])
        expect(parseAddress(short)).toEqual(parseAddress(long))
        expect(formatAddress(parseAddress(short) ?? [])).toBe(short)
        expect(short.length).toBeLessThanOrEqual(long.length)
      }),
      { seed: SEED },
    )
  })
})

describe('addresses in keys', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1234:5678::1.2.3.4', '2001:db8:1234:5678::/64'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::1', '::/64'],
  ])('%s is counted as %s', (address, key) => {
    expect(groupAddress(address)).toBe(key)
  })

  it('masks by the prefixes it is given', () => {
    expect(groupAddress('1.2.3.200', 24)).toBe('1.2.3.0/24')
    expect(groupAddress('1.255.3.4', 9)).toBe('1.128.0.0/9')
    expect(groupAddress('2001:db8:1234:56ff::1', 32, 56)).toBe('2001:db8:1234:5600::/56')
    expect(groupAddress('2001:db8::1', 32, 128)).toBe('2001:db8::1')
    expect(groupAddress('::ffff:1.2.3.4', 32, 56)).toBe('1.2.3.4')
  })

  it('refuses what is no address and prefixes that do not fit', () => {
    expect(() => groupAddress('nonsense')).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
    for (const prefix of [0, 33, 1.5, Number.NaN]) expect(() => groupAddress('1.2.3.4', prefix)).toThrow(/from 1 to 32/)
    expect(() => groupAddress('::1', 32, 129)).toThrow(/from 1 to 128/)
  })
})
