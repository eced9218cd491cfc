import { LineCounter } from 'yaml'
import { checkOptions, FLAG, type Form, oneOf, TEXT } from '../errors/options.ts'
import { type Micros, MICROS_PER_MS } from '../time/micros.ts'
import { systemTime } from '../time/system.ts'
import { compileTree, policyOf } from './compile-tree.ts'
import { positionIn, readDocument } from './document.ts'
import { fingerprint } from './fingerprint.ts'
import { createIssues, type Issues } from './issues.ts'
import type { PolicyNode } from './node.ts'
import type { Policy } from './policy.ts'
import { MAX_POLICY_LENGTH, policyText } from './policy-text.ts'
import { finish } from './sliced.ts'

export interface ParseOptions {
  /** Default: `json` for a file name that ends so, else `yaml`. */
  readonly format?: 'yaml' | 'json'
  /** Stands in messages; nothing is opened. */
  readonly filename?: string
  /** Refuses what a dialect overlooks, such as unknown fields of a bundle; the other dialects always do. */
  readonly strict?: boolean
  /** Milliseconds since 1970, for bundles that expire; default: this moment. */
  readonly now?: number
}

/**
 * Reads, checks and compiles a policy. The dialect is told by its shape: `version` and `rules`, the template with `rate_limits`, or
 * rules with `limit_keys`, alone or in a bundle.
 * @param source a text, or its bytes in UTF-8
 * @throws LimiterError INVALID_OPTIONS for an unknown option; PolicyError with every issue that was found, each with file, line and column
 */
export function parsePolicy(source: string | Uint8Array, options: ParseOptions = {}): Policy {
  const { text, root, issues, strict, now } = readTree(source, options)
  const read = finish(compileTree(root, { strict, now }, issues))
  return policyOf(read, issues.warnings, fingerprint(text))
}

const FORMS: Readonly<Record<string, Form>> = {
  format: oneOf('yaml', 'json'),
  filename: TEXT,
  strict: FLAG,
  now: [Number.isFinite, 'milliseconds since 1970'],
}

/** A text that was read as far as its tree: its issues know where in the text each node stands. */
interface ReadText {
  readonly text: string
  readonly root: PolicyNode | undefined
  readonly issues: Issues
  readonly strict: boolean
  readonly now: Micros
}

/** @throws PolicyError for a text that is no tree, or bytes that are no text */
export function readTree(source: string | Uint8Array, options: ParseOptions): ReadText {
  checkOptions('parsePolicy', options, FORMS)
  const format = options.format ?? (options.filename?.endsWith('.json') === true ? 'json' : 'yaml')
  const text = source instanceof Uint8Array ? policyText(source, options.filename ?? `policy.${format}`) : source
  const lines = new LineCounter()
  lines.addNewLine(0)
  const issues = createIssues(options.filename ?? `policy.${format}`, positionIn(lines))
  const root = readRoot(text, format, lines, issues)
  issues.settle()
  const now = options.now === undefined ? systemTime.now() : options.now * MICROS_PER_MS
  return { text, root, issues, strict: options.strict === true, now }
}

function readRoot(text: string, format: 'yaml' | 'json', lines: LineCounter, issues: Issues): PolicyNode | undefined {
  if (typeof text !== 'string' || text.length > MAX_POLICY_LENGTH) {
    issues.add(0, '', `the policy is not a text of at most ${MAX_POLICY_LENGTH} characters`)
    return undefined
  }
  if (isSigned(text)) {
    const allowed = 'the JSON alone, without the line of its signature'
    issues.add(0, '', `a signed bundle is not yet supported: expected ${allowed}`, { allowed })
    return undefined
  }
  const root = readDocument(readable(text), lines, issues)
  if (format === 'json' && !issues.failed) refuseOtherThanJson(text, issues)
  return root
}

/** Without a byte order mark; and `store: memory:`, which to YAML is a map begun on the wrong line, is the text it looks like. */
function readable(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/^(store:[ \t]+memory):(?=[ \t]*(?:#.*)?\r?$)/m, '$1 ')
}

/** A line of Base64 and then JSON. */
function isSigned(text: string): boolean {
  return /^[A-Za-z0-9+/]{20,}={0,2}\r?\n\s*\{/.test(text.slice(0, 200))
}

/** YAML reads JSON and more; where JSON was promised, the rest is refused. */
function refuseOtherThanJson(text: string, issues: Issues): void {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    const message = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ')
    issues.add(Number(/ position (\d+)/.exec(message)?.[1] ?? 0), '', `the policy is not JSON: ${message}`)
  }
}
