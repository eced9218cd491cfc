const SIZE = 250_000

/** Valid policies of 250 kB. Each has many parts of one kind, and few of its rules apply to a request for /a7/b7. */
export const LARGE_POLICIES: readonly (readonly [what: string, text: string])[] = [
  [
    'rules',
    native(
      [],
      filled((n) => `  - { name: r${n}, match: { path: /a${n}/b${n}/** }, key: ["header:x-${n}"], rate: 10/s, burst: ${n + 1} }`),
    ),
  ],
  [
    'tiers',
    native(
      [],
      [
        ...limited(),
        '    tiers:',
        ...filled((n) => `      - { when: { "header:t": "${'t'.repeat(200)}${n}" }, rate: 9/s, burst: ${n + 1} }`),
      ],
    ),
  ],
  [
    'conditions',
    native(
      [],
      [
        ...limited(),
        '    tiers:',
        '      - rate: 1/s',
        '        burst: 2',
        '        when:',
        ...filled((n) => `          "header:x-${n}": [a${n}, b]`),
      ],
    ),
  ],
  ['exempt networks', native([`exempt: [{ ip: [${filled(address).join(', ')}] }]`], [...limited(), '    rate: 1/s', '    burst: 2'])],
  ['trusted proxies', native([`trustedProxies: [${filled(address).join(', ')}]`], [...limited(), '    rate: 1/s', '    burst: 2'])],
  [
    'overrides',
    native(
      ['overrides:', ...filled((n) => `  - { rule: r, key: k${'x'.repeat(20)}${n}, rate: 2/s, burst: 3 }`)],
      [...limited(), '    rate: 1/s', '    burst: 2'],
    ),
  ],
  [
    'costs of endpoints',
    native(
      [],
      [
        ...limited(),
        '    rate: 1/s',
        '    burst: 100',
        '    cost:',
        '      endpoints:',
        ...filled((n) => `        /a/b${n}: ${(n % 9) + 1}`),
      ],
    ),
  ],
]

/** The beginning of a rule. */
function limited(): string[] {
  return ['  - name: r', '    key: ["header:x-7"]']
}

/** Makes as many items as fit into the policy's size, but no more than a list may have. */
function filled(make: (index: number) => string): string[] {
  const items: string[] = []
  for (let size = 300; ;) {
    const item = make(items.length)
    size += item.length + 2
    if (size > SIZE) return items
    items.push(item)
  }
}

function native(more: readonly string[], rules: readonly string[]): string {
  return `${['version: 1', ...more, 'rules:', ...rules].join('\n')}\n`
}

function address(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
}
