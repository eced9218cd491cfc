/**
 * Makes valid policies of about `size` characters. For each kind of part that a policy may have many of, one of them consists of many such
 * parts.
 */
export function largePolicies(size: number): ReadonlyMap<string, string> {
  const fill = <T>(make: (index: number) => T, most?: number): T[] => filled(size, make, most)
  return new Map([
    [
      'rules',
      native(
        fill(
          (index) =>
            `  - { name: r${index}, match: { path: /a${index % 50}/b${index}/** }, key: ["header:x-${index}"], rate: 10/s, burst: ${index + 1} }`,
        ),
      ),
    ],
    [
      'rules without a path',
      native(fill((index) => `  - { name: r${index}, key: ["header:x-${index}"], rate: 10/s, burst: ${index + 1}, mode: shadow }`)),
    ],
    [
      'tiers of one rule',
      native([
        '  - name: r',
        '    key: [ip:address]',
        '    tiers:',
        ...fill((index) => `      - { when: { "header:x-tier": "${'t'.repeat(200)}${index}" }, rate: 10/s, burst: ${index + 1} }`, 1_000),
      ]),
    ],
    [
      'conditions of one tier',
      native([
        '  - name: r',
        '    key: [ip:address]',
        '    tiers:',
        '      - rate: 1/s',
        '        burst: 2',
        '        when:',
        ...fill((index) => `          "header:x-${index}": [a${index}, b]`),
      ]),
    ],
    [
      'exempt networks',
      native(['  - { name: r, key: [], rate: 1/s, burst: 2 }'], [`exempt: [{ ip: [${fill((index) => address(index)).join(', ')}] }]`]),
    ],
    [
      'trusted proxies',
      native(['  - { name: r, key: [], rate: 1/s, burst: 2 }'], [`trustedProxies: [${fill((index) => address(index)).join(', ')}]`]),
    ],
    [
      'overrides',
      native(
        ['  - { name: r, key: ["header:x"], rate: 1/s, burst: 2 }'],
        ['overrides:', ...fill((index) => `  - { rule: r, key: k${index}${'x'.repeat(20)}, rate: 2/s, burst: 3 }`)],
      ),
    ],
    [
      'costs of endpoints',
      native([
        '  - name: r',
        '    key: []',
        '    rate: 1/s',
        '    burst: 100',
        '    cost:',
        '      endpoints:',
        ...fill((index) => `        /a/b${index}: ${(index % 9) + 1}`),
      ]),
    ],
    [
      'endpoints of the template',
      ['rate_limits:', '  endpoints:', ...fill((index) => `    /a/b${index}: { capacity: 9, refill_rate: 3, cost: 2 }`)].join('\n'),
    ],
    [
      'tenants of the template',
      [
        'rate_limits:',
        '  tenants:',
        '    default: { capacity: 9, refill_rate: 3 }',
        ...fill((index) => `    t${index}: { capacity: 9, refill_rate: 3 }`),
      ].join('\n'),
    ],
    [
      'rules of a bundle',
      JSON.stringify({
        rules: fill((index) => ({
          name: `r${index}`,
          limit_keys: ['header:x'],
          algorithm: 'token_bucket',
          algorithm_config: { tokens_per_second: 5, burst: 9 },
          ...(index % 2 === 0 ? { match: { 'header:plan': `p${index}` } } : {}),
        })),
      }),
    ],
  ])
}

/** As many as there is room for. */
function filled<T>(room: number, make: (index: number) => T, most: number = Infinity): T[] {
  const items: T[] = []
  for (let [size, index] = [200, 0]; index < most; index += 1) {
    const item = make(index)
    size += (typeof item === 'string' ? item : JSON.stringify(item)).length + 2
    if (size > room) break
    items.push(item)
  }
  return items
}

function native(rules: readonly string[], more: readonly string[] = []): string {
  return `${['version: 1', ...more, 'rules:', ...rules].join('\n')}\n`
}

function address(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
}
