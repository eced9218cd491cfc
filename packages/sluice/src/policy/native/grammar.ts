import { MAX_HOLDERS } from '../../algorithms/concurrency.ts'
import { DIALECTS, LEGACY } from '../model/header-choice.ts'
import { REGION_MODES, REGION_NAME, REGION_UNITS } from '../model/region-choice.ts'
import { about, listOf, oneOf, oneOrMore, SCALAR, type Schema, type Shape, shapeOf, TEXT, wholeFrom } from './shape.ts'

export const ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log', 'concurrency'] as const
export const MODES = ['enforce', 'shadow', 'off'] as const
export const STORE_FAILURES = ['allow', 'deny', 'local'] as const
export const IDENTIFIER_MODES = ['plain', 'hmac'] as const
export const ALIGNMENTS = ['clock', 'first', 'key'] as const
export const SECRET_ALGORITHMS: readonly string[] = ['HS256', 'HS384', 'HS512']
const RSA = ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512']
export const PUBLIC_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'ES512', 'EdDSA', ...RSA]
export const MAX_SAMPLED = 10_000
export const MAX_KEY_PARTS = 16
export const MAX_PROCESSES = 100_000
export const MAX_FAILURES = 10_000
/** Excludes `#`, which separates rule and tier in state ids. */
export const RULE_NAME: RegExp = /^[!$-[\]-~]{1,64}$/

const DECIMAL_TEXT: Schema = { type: 'string', pattern: String.raw`^\d{1,15}(\.\d{1,6})?$` }
const DECIMAL: Schema = { anyOf: [{ type: 'number', exclusiveMinimum: 0 }, DECIMAL_TEXT] }
const DURATION: Schema = {
  anyOf: [
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'string', pattern: String.raw`^\s*(\d{1,12}(\.\d{1,6})?)?\s*[a-z]{1,7}\s*$` },
  ],
}
const SOURCE: Schema = {
  type: 'string',
  pattern: String.raw`^(header|query|cookie):[\w!#$%&'*+.^|~\x60-]{1,128}$|^jwt:[!-~]{1,128}$|^ip:(address|/\d{1,3}(/\d{1,3})?)$|^path:(template)?$|^(method|host):$|^ua:bot$|^const:`,
}
/** In a list YAML parses `path:` without quotes as a map. */
const BARE_SOURCE: Schema = {
  type: 'object',
  propertyNames: { enum: ['path', 'method', 'host', 'const'] },
  additionalProperties: { type: 'null' },
  minProperties: 1,
  maxProperties: 1,
}
const PATH: Schema = { type: 'string', pattern: '^/[^?#]*$' }
const RATE: Schema = { type: 'string', pattern: '^[^/]+/[^/]+$' }

const LIMIT: Readonly<Record<string, Schema>> = {
  algorithm: about(
    'How tokens are counted; default token-bucket, in a tier that of its rule. It decides which of the other fields a limit has.',
    oneOf(ALGORITHMS),
  ),
  rate: about('Of a token bucket: tokens per duration, such as 10/s, 100/min or 10/30s; at most six decimals.', RATE),
  burst: about('Of a token bucket: the most tokens it holds, at most six decimals. A cost above it is never admitted.', DECIMAL),
  limit: about(
    'Of a window: the most tokens in it, at most six decimals. Of a concurrency limit: the most requests at once. A cost above it is never admitted.',
    DECIMAL,
  ),
  window: about('Of a window: its length, such as 1m or 30s. A number without a unit is milliseconds.', DURATION),
  align: about('Of a fixed window: it begins by the clock (default), at the first charge, or at a time of its key.', oneOf(ALIGNMENTS)),
  hold: about(
    'Of a concurrency limit: how long a request keeps its slot at most, such as 30s, if its end does not become known.',
    DURATION,
  ),
  ramp: about('Of a fixed window: how long its limit grows from one token to all after a reset; shorter than the window.', DURATION),
}

export const MATCH: Shape = shapeOf({
  path: about('A path pattern such as /api/**: * is one segment, ** any number. Case and a trailing slash make no difference.', PATH),
  method: about(
    'A method or a list of them; GET matches HEAD too.',
    oneOrMore({ type: ['string', 'boolean'], pattern: '^[A-Za-z]{1,32}$' }),
  ),
  host: about('A host or a list of them, such as *.example.com: * is one label, ** any number.', oneOrMore(SCALAR)),
})

export const TIER: Shape = shapeOf({
  when: about('Sources, each with the text it must have, or a list of such texts. The first tier whose conditions all hold is used.', {
    type: 'object',
    propertyNames: SOURCE,
    additionalProperties: oneOrMore(SCALAR),
  }),
  ...LIMIT,
})

const FROM: Schema = { type: 'string', pattern: String.raw`^(header|query):[\w!#$%&'*+.^|~\x60-]{1,128}$` }
const ENDPOINTS: Schema = { type: 'object', propertyNames: PATH, additionalProperties: DECIMAL, minProperties: 1 }
export const CLIENT_COST: Shape = shapeOf(
  {
    from: about('The header or query parameter with the cost. Clients can send any value.', FROM),
    default: about('The cost of a request without a valid value; default 1, or the nearest that min and max allow.', DECIMAL),
    min: about('The least cost; a lower value counts as this. Default 1.', DECIMAL),
    max: about('The highest cost; a higher value counts as this. At most the burst, or such a request is never admitted.', DECIMAL),
  },
  { required: ['from'] },
)
export const ENDPOINT_COST: Shape = shapeOf(
  {
    endpoints: about('Path patterns, each with its cost; of several that match the highest counts.', ENDPOINTS),
    default: about('The cost of all other paths; default 1.', DECIMAL),
  },
  { required: ['endpoints'] },
)

export const EXEMPT: Shape = shapeOf(
  {
    path: about('A path pattern, or a list of them.', oneOrMore(PATH)),
    ip: about(
      'An address or network of the client, or a list of them.',
      oneOrMore({ type: 'string', pattern: String.raw`^[\d.:a-fA-F]+(/\d{1,3})?$` }),
    ),
    header: about('Headers with their values; they count only if a trusted proxy sent the request.', {
      type: 'object',
      additionalProperties: SCALAR,
      minProperties: 1,
    }),
  },
  { minProperties: 1 },
)

export const OVERRIDE: Shape = shapeOf(
  {
    rule: about('Name of the rule.', TEXT),
    key: about("The value of the rule's source, or a list of the values of its sources; null where requests have none.", {
      anyOf: [SCALAR, listOf({ type: ['string', 'number', 'boolean', 'null'] })],
    }),
    ...LIMIT,
    until: about('The end of the override, such as 2027-01-31T00:00:00Z; without it the override has none.', {
      type: 'string',
      pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})$`,
    }),
  },
  { required: ['rule', 'key'] },
)

export const RULE: Shape = shapeOf(
  {
    name: about(
      'Unique in the file; it appears in headers and metrics. At most 64 printable characters without blanks, quotes, # and \\.',
      {
        type: 'string',
        pattern: RULE_NAME.source,
      },
    ),
    match: about('The requests that the rule applies to: every field must match. Without it, all requests.', MATCH.schema),
    exempt: about('Requests that this rule does not limit.', listOf(EXEMPT.schema)),
    key: about(
      'What requests are counted by: a list of sources, such as [ip:address] or [header:x-api-key]. [] is one bucket for everybody.',
      listOf({ anyOf: [SOURCE, BARE_SOURCE] }, { maxItems: MAX_KEY_PARTS }),
    ),
    ...LIMIT,
    tiers: about(
      "Limits with conditions; the first that holds is used, and last the rule's own limit, if it has one.",
      listOf(TIER.schema, { minItems: 1 }),
    ),
    cost: about('The tokens that a request takes: a number, a value of the request, or a number for each path. Default 1.', {
      anyOf: [DECIMAL, CLIENT_COST.schema, ENDPOINT_COST.schema],
    }),
    sample: about(
      'One request in so many is counted, for so many times its cost; the others pass uncounted. Default 1: all are.',
      wholeFrom(1, MAX_SAMPLED),
    ),
    mode: about('enforce (default); shadow: the rule counts and reports, but denies nothing; off.', oneOf(MODES)),
    onStoreFailure: about(
      'While the store fails: allow, deny, or local (the same limits in a memory store of each process). Default failure.policy.',
      oneOf(STORE_FAILURES),
    ),
    maxOvergrant: about(
      'Tokens: the policy is refused if the rule may admit more than so many above its limit. unbounded: it may admit any number.',
      {
        anyOf: [{ type: 'number', minimum: 0 }, { enum: ['unbounded'] }, DECIMAL_TEXT],
      },
    ),
  },
  { required: ['name', 'key'] },
)

export const HEADERS: Shape = shapeOf({
  dialect: about(
    'Form of RateLimit and RateLimit-Policy, by revision of draft-ietf-httpapi-ratelimit-headers; default draft-11.',
    oneOf(DIALECTS),
  ),
  legacy: about('X-RateLimit-Reset: off (default), seconds from now (delta), or seconds since 1970 (epoch).', oneOf(LEGACY)),
})
export const IDENTIFIERS: Shape = shapeOf({
  mode: about('plain (default): stores get the values of keys as they are. hmac: they get keyed hashes.', oneOf(IDENTIFIER_MODES)),
  secretFile: about("For hmac: the file with the secret, relative to the policy's folder. Another secret changes every key.", TEXT),
})
export const RESERVATIONS: Shape = shapeOf(
  {
    secretFile: about(
      "File with a secret of at least 32 bytes that signs the ids of reservations, relative to the policy's folder. Needed with several processes.",
      TEXT,
    ),
    maxHolds: about('How many reservations of a key may be open at once; without it any number.', wholeFrom(1, MAX_HOLDERS)),
  },
  { minProperties: 1 },
)
export const BREAKER: Shape = shapeOf({
  failures: about(
    'How many failed calls within the window open the breaker, if they are at least half of all; default 3.',
    wholeFrom(1, MAX_FAILURES),
  ),
  window: about('How long failed and successful calls are counted; default 200ms.', DURATION),
  probe: about('How often a failed server is probed; default 250ms.', DURATION),
})
export const FAILURE: Shape = shapeOf({
  deadline: about('How long a remote store may take, at most 60s; default 50ms, or 1s while the first connection is made.', DURATION),
  policy: about('The onStoreFailure of rules without their own: allow, deny (default) or local.', oneOf(STORE_FAILURES)),
  processes: about('The most processes that share the store; the bounds of local are computed for it.', wholeFrom(1, MAX_PROCESSES)),
  outage: about('The longest time that the store may be down; the bounds of local are computed for it.', DURATION),
  breaker: about('When the service stops calling a failing store, and how often it probes the store.', BREAKER.schema),
})
export const JWT: Shape = shapeOf({
  secretFile: about('File with a secret of at least 32 bytes, for HS256, HS384 and HS512.', TEXT),
  jwksFile: about('File with the public keys of an issuer, as a JSON Web Key Set (RFC 7517).', TEXT),
  jwksUrl: about('URL of the key set: https, or http on this machine. It is fetched every five minutes.', {
    type: 'string',
    pattern: '^https?://',
  }),
  verified: about('upstream: a server in front has verified the tokens, so they are only decoded.', oneOf(['upstream'])),
  algorithms: about(
    'Accepted signature algorithms (RFC 7518); default all that the keys allow.',
    oneOrMore(oneOf([...SECRET_ALGORITHMS, ...PUBLIC_ALGORITHMS])),
  ),
  issuer: about('The required iss of a token.', TEXT),
  audience: about('The aud of a token must include one of these.', oneOrMore(SCALAR)),
  leeway: about('How far clocks may differ, at most 10 minutes.', DURATION),
})

const REGION: Schema = { type: 'string', pattern: REGION_NAME.source }
export const REGIONS: Shape = shapeOf({
  self: about(
    'Name of this region. Without it, --region or SLUICE_REGION of the service says it, so that all regions can have the same policy.',
    REGION,
  ),
  peers: about(
    'All regions, as NAME=URL with the address of the service, or as NAME. The one that self names may be missing. Needed without weights.',
    listOf(
      { type: 'string', pattern: String.raw`${REGION_NAME.source.slice(0, -1)}(=https?://[^\s\\@?#]+)?$` },
      { minItems: 1, maxItems: REGION_UNITS },
    ),
  ),
  weights: about('Thousandths of every limit that each region holds at first, together at most 1000. Default: equal weights.', {
    type: 'object',
    propertyNames: { pattern: REGION_NAME.source },
    additionalProperties: wholeFrom(0, REGION_UNITS),
    minProperties: 1,
  }),
  mode: about(
    'escrow (default): parts of token buckets move to where the demand is. fixed: each region keeps its part of every limit. ' +
      'counters: each region grants whole token buckets, and is charged later with what the others spent.',
    oneOf(REGION_MODES),
  ),
  cutoff: about(
    'With mode counters: a region that has not read some other one for this long keeps to its part. 2 seconds to a day.',
    DURATION,
  ),
})

export const ROOT: Shape = shapeOf(
  {
    version: about('Version of this format: 1.', { enum: [1, '1'] }),
    store: about(
      'URL of the store: memory:, pglite:DIR, redis://, rediss://, redis+cluster://A,B, redis+sentinel://A,B/PRIMARY or postgres://.',
      TEXT,
    ),
    trustedProxies: about(
      'Proxies whose forwarding headers are believed: addresses, networks, loopback, linklocal or uniquelocal. []: clients connect directly.',
      listOf(TEXT),
    ),
    identifiers: about('Whether stores get the values of keys or keyed hashes.', IDENTIFIERS.schema),
    reservations: about('How the service signs the ids of reservations, and how many may be open.', RESERVATIONS.schema),
    jwt: about(
      'How tokens are verified: exactly one of secretFile, jwksFile, jwksUrl and verified. Without it claims count as absent.',
      JWT.schema,
    ),
    headers: about('Which header fields answers have.', HEADERS.schema),
    regions: about('The regions that share the limits of this policy.', REGIONS.schema),
    failure: about('What is done while the store fails.', FAILURE.schema),
    exempt: about('Requests that no rule limits: all parts of one entry must match.', listOf(EXEMPT.schema)),
    overrides: about('Other limits for single keys of a rule, in every tier.', listOf(OVERRIDE.schema)),
    rules: about(
      'All rules that match a request are charged together or not at all. A request that no rule matches is not limited.',
      listOf(RULE.schema),
    ),
  },
  { required: ['version', 'rules'] },
)

/**
 * The native dialect as a JSON Schema (draft 2020-12). Every policy that loads is valid by it. Only the parser checks several fields
 * together, such as a burst too large for its rate.
 */
export const policySchema: Schema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Sluice policy, native dialect',
  ...ROOT.schema,
})
