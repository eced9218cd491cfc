import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LimiterError } from '../../src/errors/limiter-error.ts'
import { fail, rule } from './refused.ts'

describe('a wrong policy', () => {
  it('names file, line, column, path, value and what is allowed', () => {
    const text = 'version: 1\nrules:\n  - name: a\n    key: []\n    burst: 20\n\n    rate: 10/fortnight\n'
    const error = fail(text)
    const allowed = 'tokens per duration, such as 10/s, 100/min or 10/30s (units: us, ms, s, min or m, h, d, w)'
    expect(error.message).toBe(`policy.yaml:7:11: rules[0].rate is "10/fortnight": expected ${allowed}`)
    expect(error.issues).toEqual([
      {
        file: 'policy.yaml',
        line: 7,
        column: 11,
        path: 'rules[0].rate',
        value: '"10/fortnight"',
        allowed,
        message: `rules[0].rate is "10/fortnight": expected ${allowed}`,
      },
    ])
    expect(error).toBeInstanceOf(LimiterError)
    expect(error).toMatchObject({ code: 'INVALID_POLICY', help: 'sluice/docs/errors.md#invalid_policy' })
  })

  it('says in which range a number or a length of time must be', () => {
    const large = fail('version: 1\nrules: [{ name: a, key: [], rate: 1/s, burst: 9007199255 }]').message
    expect(large).toContain('rules[0].burst is 9007199255: expected a number of at most 9007199254')
    const long = fail('version: 1\nrules: [{ name: a, key: [], algorithm: fixed-window, limit: 1, window: 10000w }]').message
    expect(long).toContain('or milliseconds as a number, at most a hundred years')
  })

  it('is reported once, and an empty list as an empty list', () => {
    const empty = fail('version: 1\nrules: [{ name: a, key: [], tiers: [{ when: { jwt:plan: [] }, rate: 1/s, burst: 1 }] }]')
    expect(empty.issues.map(({ message }) => message)).toEqual([
      'rules[0].tiers[0].when["jwt:plan"] is an empty list: expected the text the value must have, or a list of texts',
    ])
    expect(fail('version: 1\nrules: [{ name: a, key: [], tiers: [] }]').message).toContain('rules[0].tiers is an empty list: expected')
  })

  it.each(['https://ada:secret@id.example/keys', 'http://id.example/?token=secret'])('does not show a wrong jwksUrl: %s', (url) => {
    const { message, issues } = fail(`version: 1\njwt: { jwksUrl: "${url}" }\nrules: []`)
    expect(message).toMatch(/^policy\.yaml:2:17: jwt\.jwksUrl is not an https:\/\/ URL without credentials/)
    expect(JSON.stringify([message, issues])).not.toContain('secret')
  })

  it('is reported whole, in the order of the file', () => {
    const text = [
      'version: 2',
      'stroe: "memory:"',
      'failure: { deadline: 2min, policy: maybe }',
      'rules:',
      '  - name: "a b"',
      '    key: [header:, ip:/0]',
      '    rate: 0/s',
      '    burst: -1',
      '  - nmae: b',
      '    key: ip:address',
      '    rate: 1/s',
      '    cost: 0x10',
      '    mode: on',
      '',
    ].join('\n')
    expect(
      fail(text, { filename: 'p.yml' })
        .message.split('\n')
        .map((line) => line.replace(/(: expected .*| allowed are .*)$/, '')),
    ).toEqual([
      'p.yml:1:10: version is 2',
      'p.yml:2:1: stroe is unknown: did you mean store?',
      'p.yml:3:22: failure.deadline is "2min"',
      'p.yml:3:36: failure.policy is "maybe"',
      'p.yml:5:11: rules[0].name is "a b"',
      'p.yml:6:11: rules[0].key[0] is "header:"',
      'p.yml:6:20: rules[0].key[1] is "ip:/0"',
      'p.yml:7:11: rules[0].rate is "0/s"',
      'p.yml:8:12: rules[0].burst is -1',
      'p.yml:9:5: rules[1].nmae is unknown: did you mean name?',
      'p.yml:9:5: rules[1].name is missing',
      'p.yml:9:5: rules[1].burst is missing',
      'p.yml:10:10: rules[1].key is "ip:address"',
      'p.yml:12:11: rules[1].cost is 0x10',
      'p.yml:13:11: rules[1].mode is "on"',
    ])
  })

  it.each([
    ['onFull: shared', 'rules[0].onFull is not yet supported'],
    ['overrides: []', 'rules[0].overrides is unknown: allowed are name, match, exempt, key'],
    ['algorithm: leaky-bucket', 'rules[0].algorithm is "leaky-bucket": expected token-bucket, fixed-window'],
    ['algorithm: fixed-window', 'rules[0].limit is missing: expected a number above 0'],
    ['algorithm: sliding-window-log', 'rules[0].rate is not a field of sliding-window-log: expected limit, window'],
    ['window: 1m', 'rules[0].window is not a field of token-bucket: expected rate, burst'],
    ['exempt: { path: /a }', 'rules[0].exempt is a map: expected a list of { path, ip, header }'],
    ['exempt: [{}]', 'rules[0].exempt[0] says nothing: expected path, ip, header'],
    ['exempt: [{ pth: /a }]', 'rules[0].exempt[0].pth is unknown: did you mean path?'],
    ['exempt: [{ path: a }]', 'rules[0].exempt[0].path is "a": expected a path'],
    ['exempt: [{ path: [] }]', 'rules[0].exempt[0].path[0] is empty: expected a path'],
    ['exempt: [{ ip: 10.0.0.1/33 }]', 'rules[0].exempt[0].ip is "10.0.0.1/33": expected a prefix of at most 32'],
    ['exempt: [{ ip: [10.0.0.1, 0.0.0.0/0] }]', 'rules[0].exempt[0].ip[1] is "0.0.0.0/0": a network of everybody'],
    ['exempt: [{ ip: localhost }]', 'rules[0].exempt[0].ip is "localhost": expected an address or a network'],
    ['exempt: [{ header: x-a }]', 'rules[0].exempt[0].header is "x-a": expected a map'],
    ['exempt: [{ header: {} }]', 'rules[0].exempt[0].header is empty: expected names'],
    ['exempt: [{ header: { "a b": c } }]', 'rules[0].exempt[0].header is "a b": expected the name of a header'],
    ['exempt: [{ header: { x: [c] } }]', 'rules[0].exempt[0].header.x is a list: expected the text'],
    ['sample: 0', 'rules[0].sample is 0: expected a whole number from 1 to 10000'],
    ['sample: 2.5', 'rules[0].sample is 2.5: expected a whole number'],
    ['sample: 21', 'rules[0].sample: one request in 21 is charged 21 times up to 1, above the capacity 20'],
    ['sample: 3\n    cost: { from: header:x, max: 7 }', 'one request in 3 is charged 3 times up to 7, above the capacity 20'],
    ['sample: 2\n    cost: { from: header:x }', 'one request in 2 is charged 2 times up to 9007199254, above'],
    ['maxOvergrant: -1', 'rules[0].maxOvergrant is -1: expected tokens from 0'],
    ['maxOvergrant: none', 'rules[0].maxOvergrant is "none": expected tokens from 0 with at most six decimals, or unbounded'],
    ['cost: { endpoints: {} }', 'rules[0].cost.endpoints is empty: expected at least one path'],
    ['cost: { endpoints: { /a: 0 } }', 'rules[0].cost.endpoints["/a"] is 0: expected a number above 0'],
    ['cost: { endpoints: { a: 1 } }', 'rules[0].cost.endpoints.a is "a": expected a path'],
    ['cost: { endpoints: { /a: 1 }, max: 3 }', 'rules[0].cost.max is unknown: allowed are endpoints, default'],
    ['match: { path: "/users/:id" }', 'match.path is "/users/:id": expected a path'],
    ['match: { path: "/users/{id}" }', 'match.path is "/users/{id}": expected a path'],
    ['match: { path: "/a*" }', 'match.path is "/a*": expected a path'],
    ['match: { path: api }', 'match.path is "api": expected a path'],
    ['match: { path: /a?b=c }', 'match.path is "/a?b=c": expected a path'],
    ['match: { method: [] }', 'match.method is an empty list: expected a method'],
    ['match: { method: [GET, "P OST"] }', 'match.method[1] is "P OST": expected a method'],
    ['match: { host: "a..b" }', 'match.host is "a..b": expected a host'],
    ['match: { route: /a }', 'match.route is unknown: allowed are path, method, host'],
    ['match:', 'rules[0].match is empty: expected a map'],
    ['cost: 0', 'rules[0].cost is 0: expected a number above 0'],
    ['cost: -5', 'rules[0].cost is -5: expected a number above 0'],
    ['cost: 1e3', 'rules[0].cost is 1e3: expected a number above 0'],
    ['cost: .5', 'rules[0].cost is .5: expected a number above 0'],
    ['cost: 0.0000001', 'rules[0].cost is 0.0000001: expected a number above 0'],
    ['cost: [1]', 'rules[0].cost is a list: expected a number'],
    ['cost: { from: cookie:x }', 'cost.from is "cookie:x": expected header:<name> or query:<name>'],
    ['cost: { max: 5 }', 'cost.from is missing'],
    ['cost: { from: header:x, min: 5, max: 2 }', 'min 5 is above max 2'],
    ['cost: { from: header:x, default: 9, max: 2 }', 'default 9 is not between min 1 and max 2'],
    ['onStoreFailure: fail_open', 'rules[0].onStoreFailure is "fail_open": expected allow, deny, local'],
    ['mode: shdow', 'rules[0].mode is "shdow": expected enforce, shadow, off'],
    ['tiers: []', 'rules[0].tiers is an empty list: expected a list of { when'],
    ['tiers: [{ when: { plan: x }, rate: 1/s, burst: 1 }]', 'tiers[0].when is "plan": expected header:<name>'],
    ['tiers: [{ when: { jwt:plan: {} }, rate: 1/s, burst: 1 }]', 'tiers[0].when["jwt:plan"] is a map: expected the text'],
    ['tiers: [{ when: { jwt:plan: [] }, rate: 1/s, burst: 1 }]', 'tiers[0].when["jwt:plan"] is an empty list: expected the text'],
    ['tiers: [{ when: { jwt:plan: [[x]] }, rate: 1/s, burst: 1 }]', 'tiers[0].when["jwt:plan"][0] is a list: expected the text'],
    [
      'tiers: [{ when: { ip:address: here }, rate: 1/s, burst: 1 }]',
      'tiers[0].when["ip:address"] is "here": expected an address or a network',
    ],
    ['tiers: [{ when: { ua:bot: yes }, rate: 1/s, burst: 1 }]', 'tiers[0].when["ua:bot"] is "yes": expected a value of ua:bot'],
    ['tiers: [{ limit: 5, window: 1m }]', 'tiers[0].limit is not a field of token-bucket'],
    ['tiers: [{ rate: 1/s }]', 'tiers[0].burst is missing'],
    ['__proto__: 1', '__proto__ is refused as a name'],
    ['<<: { a: 1 }', '<< is refused as a name'],
    ['match: &m { path: /a }', 'an anchor is refused: &m'],
    ['match: *m', 'alias'],
    ['&m mode: off', 'an anchor is refused: &m'],
    ['!!str mode: off', 'a tag is refused: tag:yaml.org,2002:str'],
    ['cost: !!int 5', 'a tag is refused: tag:yaml.org,2002:int'],
    ['name: b', 'duplicate key "name": it is at line 3 already'],
    ['"name": b', 'duplicate key "name": it is at line 3 already'],
    ['? [a]\n    : 1', 'a name must be plain text'],
  ])('with %s is refused', (line, message) => {
    const error = fail(rule(line))
    expect(error.message).toContain(message)
    expect(error.issues.every(({ line: at }) => at >= 3)).toBe(true)
  })

  it.each([
    ['', 'policy.yaml:1:1: the policy is empty'],
    ['# nothing', 'policy.yaml:1:1: the policy is empty'],
    ['- a', 'policy.yaml:1:1: the policy is a list: expected a map'],
    ['hello', 'policy.yaml:1:1: the policy is "hello": expected a map'],
    ['version: 1', 'policy.yaml:1:1: rules is missing: expected a list of rules'],
    ['version: 1\nrules: {}', 'policy.yaml:2:8: rules is a map: expected a list of rules'],
    ['version: 1\nrules: [1]', 'policy.yaml:2:9: rules[0] is 1: expected a map'],
    ['version: 1\nrules: []\nidentifiers: { mode: hmac }', 'policy.yaml:3:14: identifiers.secretFile is missing'],
    ['version: 1\nrules: []\nidentifiers: { secretFile: s }', 'policy.yaml:3:14: identifiers.mode is missing: expected plain or hmac'],
    ['version: 1\nrules: []\nidentifiers: { mode: plain, secretFile: s }', 'policy.yaml:3:41: identifiers.secretFile has no use'],
    ['version: 1\nrules: []\nfailure: { breaker: on }', 'policy.yaml:3:21: failure.breaker is "on": expected a map'],
    ['version: 1\nrules: []\nfailure: { breaker: { within: 1s } }', 'policy.yaml:3:23: failure.breaker.within'],
    ['version: 1\nrules: []\nfailure: { breaker: { failures: 0 } }', 'failure.breaker.failures is 0: expected a whole number from 1'],
    [
      'version: 1\nrules: []\nfailure: { breaker: { window: 2min } }',
      'policy.yaml:3:31: failure.breaker.window is "2min": expected at most 60s',
    ],
    ['version: 1\nrules: []\nfailure: { breaker: { probe: 0 } }', 'failure.breaker.probe is 0'],
    ['version: 1\nrules: []\nfailure: { processes: 0 }', 'failure.processes is 0: expected a whole number from 1'],
    ['version: 1\nrules: []\nfailure: { outage: 5 parsecs }', 'failure.outage is "5 parsecs": expected a number and a unit'],
    ['version: 1\nrules: []\nheaders: { dialect: draft-12 }', 'headers.dialect is "draft-12": expected draft-11, '],
    ['version: 1\nrules: []\nreservations: {}', 'policy.yaml:3:15: reservations has none: expected secretFile or maxHolds'],
    ['version: 1\nrules: []\nreservations: { maxHolds: 0 }', 'reservations.maxHolds is 0: expected a whole number from 1 to 4000'],
    ['version: 1\nrules: []\njwt: {}', 'policy.yaml:3:6: jwt has none: expected one of secretFile, jwksFile, jwksUrl, verified'],
    ['version: 1\nrules: []\njwt: { secretFile: a, jwksFile: b }', 'jwt has secretFile and jwksFile: expected one of'],
    ...[
      'http://id.example/k',
      'https://a@id.example/k',
      'https://id.example/k#x',
      'ftp://id.example/k',
      'https:///k',
      './k',
      'http://127.0.0.1.example/k',
    ].map((url): [string, string] => [
      `version: 1\nrules: []\njwt: { jwksUrl: "${url}" }`,
      'policy.yaml:3:17: jwt.jwksUrl is not an https:// URL without credentials',
    ]),
    ['version: 1\nrules: []\njwt: { jwksUrl: "https://a/k", algorithms: HS256 }', 'jwt.algorithms is "HS256": expected of ES256'],
    ['version: 1\nrules: []\njwt: { verified: here }', 'jwt.verified is "here": expected upstream'],
    ['version: 1\nrules: []\njwt: { verified: upstream, issuer: a }', 'jwt.issuer is checked by whoever verifies'],
    [
      'version: 1\nrules: []\njwt: { secretFile: a, algorithms: [HS256, none] }',
      'jwt.algorithms[1] is "none": expected of HS256, HS384, HS512',
    ],
    ['version: 1\nrules: []\njwt: { jwksFile: a, algorithms: HS256 }', 'jwt.algorithms is "HS256": expected of ES256'],
    ['version: 1\nrules: []\njwt: { jwksFile: a, leeway: 1h }', 'jwt.leeway is 3600000 ms: expected at most 10m'],
    ['version: 1\nrules: []\nexempt: {}', 'policy.yaml:3:9: exempt is a map: expected a list'],
    ['version: 1\nrules: []\noverrides: {}', 'policy.yaml:3:12: overrides is a map: expected a list'],
    ['version: 1\nrules: []\nsample: 10', 'policy.yaml:3:1: sample is unknown: allowed are version'],
    ['version: 1\nrules: []\nheaders: { legacy: unix }', 'policy.yaml:3:20: headers.legacy is "unix": expected off, delta, epoch'],
    [
      'version: 1\nrules: []\ntrustedProxies: [loopback, "::ffff:10.0.0.0/8"]',
      'policy.yaml:3:28: trustedProxies[1]: trusted proxy "::ffff:10.0.0.0/8": a network of IPv4-mapped',
    ],
    ['version: 1\nrules: []\ntrustedProxies: true', 'policy.yaml:3:17: trustedProxies is true: expected a list'],
    ['version: 1\n---\nrules: []', 'policy.yaml:2:1: a second document is refused'],
    ['%YAML 1.1\n---\nversion: 1', 'policy.yaml:1:1: a directive is refused'],
    ['version: 1\nrules: [', 'policy.yaml:2:9: Flow sequence'],
    ['a:\n  b: 1\n c: 2', 'policy.yaml:3:1: All mapping items must start at the same column'],
  ])('%j is refused', (text, message) => {
    expect(fail(text).message).toContain(message)
  })

  it('two rules of one name are refused at the second', () => {
    const text = 'version: 1\nrules:\n  - { name: a, key: [], rate: 1/s, burst: 1 }\n  - { name: a, key: [], rate: 1/s, burst: 1 }\n'
    expect(fail(text).message).toBe('policy.yaml:4:13: rules[1].name is "a": expected a name of its own, rules[0] has it')
  })

  it('a key of too many parts is refused', () => {
    const text = `version: 1\nrules:\n  - { name: a, key: [${'path:, '.repeat(17)}], rate: 1/s, burst: 1 }\n`
    expect(fail(text).message).toBe('policy.yaml:3:21: rules[0].key has 17 parts: expected at most 16')
  })

  it('a limit that is not exact is refused at its burst, with the largest one', () => {
    expect(fail('version: 1\nrules:\n  - { name: a, key: [], rate: 1/day, burst: 1000000 }').message).toMatch(
      /^policy\.yaml:3:45: rules\[0\]\.burst: .*the largest burst at this rate is 36525/,
    )
  })

  it('never shows a store, which may hold a password', () => {
    const error = fail('version: 1\nstore: http://user:secret@host\nrules: []')
    expect(error.message).toMatch(/^policy\.yaml:2:8: store is not the URL of a store: expected memory:/)
    expect(JSON.stringify(error.issues)).not.toContain('secret')
  })

  it('in JSON is refused with positions as well, and what JSON does not know', () => {
    expect(fail('{\n  "version": 1,\n  "rules": [{ "name": 5 }]\n}', { filename: 'p.json' }).message).toContain(
      'p.json:3:23: rules[0].name is 5: expected',
    )
    expect(fail('{"version": 1, "rules": [], "rules": []}', { format: 'json' }).message).toContain(
      'policy.json:1:29: duplicate key "rules"',
    )
    expect(fail('version: 1\nrules: []', { format: 'json' }).message).toMatch(/^policy\.json:\d+:\d+: the policy is not JSON: /)
    expect(fail('{"version": 1, "rules": [],}', { format: 'json' }).message).toMatch(/^policy\.json:1:\d+: the policy is not JSON: /)
  })
})

describe('shapes of elsewhere', () => {
  it('the flat print of the template is refused in one line', () => {
    const flat = readFileSync(new URL('../fixtures/seed-000-flat.yaml', import.meta.url), 'utf8')
    expect(fail(flat, { filename: 'flat.yaml' }).message).toBe('flat.yaml:8:1: duplicate key capacity at line 8: is the indentation lost?')
  })
})
