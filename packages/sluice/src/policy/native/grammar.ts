import { DIALECTS, LEGACY } from '../model/header-choice.ts'

/** A JSON Schema (draft 2020-12), as data. */
export type Schema = { readonly [keyword: string]: unknown }

/** A map of the native dialect: its names for the parser, and its schema for programs that edit policies. */
export interface Shape {
  readonly names: readonly string[]
  readonly schema: Schema
}

function shapeOf(properties: Readonly<Record<string, Schema>>, more: Schema = {}): Shape {
  return Object.freeze({
    names: Object.freeze(Object.keys(properties)),
    schema: { type: 'object', properties, additionalProperties: false, ...more },
  })
}

const oneOf = (values: readonly string[]): Schema => ({ enum: values })
const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
/** One item, or a list of at least one. */
const oneOrMore = (item: Schema): Schema => ({ anyOf: [item, listOf(item, { minItems: 1, maxItems: 1_000 })] })
const wholeFrom = (least: number, most: number): Schema => ({ type: 'integer', minimum: least, maximum: most })
/** A text as YAML reads it without quotes. */
const SCALAR: Schema = { type: ['string', 'number', 'boolean'] }
const TEXT: Schema = { type: 'string', minLength: 1 }

export const ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log'] as const
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
/** Names appear in headers, metrics and state ids, where `#` separates a rule's name from its tier. */
export const RULE_NAME: RegExp = /^[!$-[\]-~]{1,64}$/

const DECIMAL: Schema = {
  anyOf: [
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'string', pattern: String.raw`^\d{1,15}(\.\d{1,6})?$` },
  ],
}
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
/** YAML parses an unquoted `path:` in a list as a map. */
const BARE_SOURCE: Schema = {
  type: 'object',
  propertyNames: { enum: ['path', 'method', 'host', 'const'] },
  additionalProperties: { type: 'null' },
  minProperties: 1,
  maxProperties: 1,
}
const PATH: Schema = { type: 'string', pattern: '^/[^?#]*$' }
const RATE: Schema = { type: 'string', pattern: '^[^/]+/[^/]+$' }
const NUMBER_SOURCE: Schema = { type: 'string', pattern: String.raw`^(header|query):[\w!#$%&'*+.^|~\x60-]{1,128}$` }

const LIMIT: Readonly<Record<string, Schema>> = {
  algorithm: oneOf(ALGORITHMS),
  rate: RATE,
  burst: DECIMAL,
  limit: DECIMAL,
  window: DURATION,
  align: oneOf(ALIGNMENTS),
  ramp: DURATION,
}

export const MATCH: Shape = shapeOf({
  path: PATH,
  method: oneOrMore({ type: ['string', 'boolean'], pattern: '^[A-Za-z]{1,32}$' }),
  host: oneOrMore(SCALAR),
})

export const TIER: Shape = shapeOf({
  when: { type: 'object', propertyNames: SOURCE, additionalProperties: oneOrMore(SCALAR) },
  ...LIMIT,
})

export const CLIENT_COST: Shape = shapeOf({ from: NUMBER_SOURCE, default: DECIMAL, min: DECIMAL, max: DECIMAL }, { required: ['from'] })
export const ENDPOINT_COST: Shape = shapeOf(
  { endpoints: { type: 'object', propertyNames: PATH, additionalProperties: DECIMAL, minProperties: 1 }, default: DECIMAL },
  { required: ['endpoints'] },
)

export const EXEMPT: Shape = shapeOf(
  {
    path: oneOrMore(PATH),
    ip: oneOrMore({ type: 'string', pattern: String.raw`^[\d.:a-fA-F]+(/\d{1,3})?$` }),
    header: { type: 'object', additionalProperties: SCALAR, minProperties: 1 },
  },
  { minProperties: 1 },
)

export const OVERRIDE: Shape = shapeOf(
  {
    rule: TEXT,
    key: { anyOf: [SCALAR, listOf({ type: ['string', 'number', 'boolean', 'null'] })] },
    ...LIMIT,
    until: { type: 'string', pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})$` },
  },
  { required: ['rule', 'key'] },
)

export const RULE: Shape = shapeOf(
  {
    name: { type: 'string', pattern: RULE_NAME.source },
    match: MATCH.schema,
    exempt: listOf(EXEMPT.schema),
    key: listOf({ anyOf: [SOURCE, BARE_SOURCE] }, { maxItems: MAX_KEY_PARTS }),
    ...LIMIT,
    tiers: listOf(TIER.schema, { minItems: 1 }),
    cost: { anyOf: [DECIMAL, CLIENT_COST.schema, ENDPOINT_COST.schema] },
    sample: wholeFrom(1, MAX_SAMPLED),
    mode: oneOf(MODES),
    onStoreFailure: oneOf(STORE_FAILURES),
    maxOvergrant: {
      anyOf: [{ type: 'number', minimum: 0 }, { enum: ['unbounded'] }, { type: 'string', pattern: String.raw`^\d{1,15}(\.\d{1,6})?$` }],
    },
  },
  { required: ['name', 'key'] },
)

export const HEADERS: Shape = shapeOf({ dialect: oneOf(DIALECTS), legacy: oneOf(LEGACY) })
export const IDENTIFIERS: Shape = shapeOf({ mode: oneOf(IDENTIFIER_MODES), secretFile: TEXT })
export const BREAKER: Shape = shapeOf({ failures: wholeFrom(1, MAX_FAILURES), window: DURATION, probe: DURATION })
export const FAILURE: Shape = shapeOf({
  deadline: DURATION,
  policy: oneOf(STORE_FAILURES),
  processes: wholeFrom(1, MAX_PROCESSES),
  outage: DURATION,
  breaker: BREAKER.schema,
})
export const JWT: Shape = shapeOf({
  secretFile: TEXT,
  jwksFile: TEXT,
  jwksUrl: { type: 'string', pattern: '^https?://' },
  verified: oneOf(['upstream']),
  algorithms: oneOrMore(oneOf([...SECRET_ALGORITHMS, ...PUBLIC_ALGORITHMS])),
  issuer: TEXT,
  audience: oneOrMore(SCALAR),
  leeway: DURATION,
})

export const ROOT: Shape = shapeOf(
  {
    version: { enum: [1, '1'] },
    store: TEXT,
    trustedProxies: listOf(TEXT),
    identifiers: IDENTIFIERS.schema,
    jwt: JWT.schema,
    headers: HEADERS.schema,
    failure: FAILURE.schema,
    exempt: listOf(EXEMPT.schema),
    overrides: listOf(OVERRIDE.schema),
    rules: listOf(RULE.schema),
  },
  { required: ['version', 'rules'] },
)

/**
 * The native dialect as a JSON Schema (draft 2020-12), for editors and for programs that write policies. It comes from the same table as
 * the parser, so every policy that loads is valid. Conditions across several fields, such as duplicate names or a burst that a rate
 * cannot carry, are checked only by the parser.
 */
export const policySchema: Schema = Object.freeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Sluice policy, native dialect',
  ...ROOT.schema,
})
