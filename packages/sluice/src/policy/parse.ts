import { LineCounter } from 'yaml'
import { checkOptions, FLAG, type Form, having, oneOf, requireForm, TEXT } from '../errors/options.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import { systemTime } from '../time/system.ts'
import { compileTree, policyOf } from './compile-tree.ts'
import { positionIn, readDocument } from './document/document.ts'
import { createIssues, type Issues } from './document/issues.ts'
import type { PolicyNode } from './document/value.ts'
import type { Policy } from './model/policy.ts'
import { MAX_POLICY_LENGTH, policyText } from './document/policy-text.ts'
import { finish, inSlices } from './model/sliced.ts'
import { type NodePiece, piecesOf, treeOf } from './document/pieces.ts'
import type { Time } from '../time/time.ts'

/** Options of `parsePolicy` and `readPortable`. */
export interface ParseOptions {
  /** Default: `json` for a file name in `.json`, otherwise `yaml`. */
  readonly format?: 'yaml' | 'json' | undefined
  /** The name of the policy in messages; no file is opened. */
  readonly filename?: string | undefined
  /** Whether a policy in Fairvisor's format (a bundle) is refused for what is otherwise only a warning, such as unknown fields. */
  readonly strict?: boolean | undefined
  /** Milliseconds since 1970, for policies in Fairvisor's format that expire; default: now. */
  readonly now?: number | undefined
}

/**
 * Parses and compiles a policy, from a text or its bytes in UTF-8.
 * @throws LimiterError INVALID_OPTIONS for an unknown option; PolicyError with every issue, each with file, line and column
 */
export function parsePolicy(source: string | Uint8Array, options: ParseOptions = {}): Policy {
  const { compiled, issues, hash } = readSource(source, options)
  return policyOf(compiled, issues.warnings, hash)
}

const FORMS: Readonly<Record<string, Form>> = {
  format: oneOf('yaml', 'json'),
  filename: TEXT,
  strict: FLAG,
  now: [Number.isFinite, 'milliseconds since 1970'],
}

/** @throws PolicyError */
function readSource(source: string | Uint8Array, options: ParseOptions) {
  checkOptions('parsePolicy', options, FORMS)
  const format = options.format ?? (options.filename?.endsWith('.json') === true ? 'json' : 'yaml')
  const filename = options.filename ?? `policy.${format}`
  const text = source instanceof Uint8Array ? policyText(source, filename) : source
  const lines = new LineCounter()
  lines.addNewLine(0)
  const issues = createIssues(filename, positionIn(lines), options.strict)
  const root = readRoot(text, format, lines, issues)
  issues.settle()
  const now = options.now === undefined ? systemTime.now() : options.now * MICROS_PER_MS
  const compiled = finish(compileTree(root, now, issues))
  // `compileTree` throws for a policy without a root.
  return { root: root as PolicyNode, compiled, issues, now, hash: fingerprint(text) }
}

function readRoot(text: string, format: 'yaml' | 'json', lines: LineCounter, issues: Issues): PolicyNode | undefined {
  if (typeof text !== 'string' || text.length > MAX_POLICY_LENGTH)
    return issues.add(0, '', `the policy is not a text of at most ${MAX_POLICY_LENGTH} characters`)
  if (isSigned(text)) {
    const allowed = 'the JSON alone, without the line of its signature'
    return issues.add(0, '', `a signed bundle is not yet supported: expected ${allowed}`, { allowed })
  }
  const root = readDocument(readable(text), lines, issues)
  if (format === 'json' && !issues.failed) refuseOtherThanJson(text, issues)
  return root
}

/** YAML would parse `store: memory:` as the start of a map, so the last colon is removed. */
function readable(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/^(store:[ \t]+memory):(?=[ \t]*(?:#.*)?\r?$)/m, '$1 ')
}

/** One line of Base64, then JSON. */
function isSigned(text: string): boolean {
  return /^[A-Za-z0-9+/]{20,}={0,2}\r?\n\s*\{/.test(text.slice(0, 200))
}

/** The YAML parser also reads YAML that is not JSON. */
function refuseOtherThanJson(text: string, issues: Issues): void {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    const message = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ')
    issues.add(Number(/ position (\d+)/.exec(message)?.[1] ?? 0), '', `the policy is not JSON: ${message}`)
  }
}

/** 64 bits as 16 hexadecimal digits (FNV-1a twice), not cryptographic. */
function fingerprint(text: string): string {
  return mixed(text, 0x811c9dc5) + mixed(text, 0x9e3779b9)
}

function mixed(text: string, seed: number): string {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    hash ^= hash >>> 15
  }
  return (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0).toString(16).padStart(8, '0')
}

/** A validated policy as plain data, which another thread can compile. */
export interface PortablePolicy {
  /** The name in messages. */
  readonly filename: string
  /** The option `strict` of `readPortable`. */
  readonly strict: boolean
  /** The option `now` of `readPortable`, in microseconds since 1970. */
  readonly now: number
  /** As `Policy.hash`. */
  readonly hash: string
  /** As `Policy.warnings`. */
  readonly warnings: readonly string[]
  /** The parsed tree, in order; each part may be sent separately. */
  readonly pieces: Iterable<NodePiece>
}

/** As `parsePolicy`, but the result can be sent to another thread: parsing is most of the work. @throws PolicyError */
export function readPortable(source: string | Uint8Array, options: ParseOptions = {}): PortablePolicy {
  const { root, issues, now, hash } = readSource(source, options)
  const { strict, warnings } = issues
  return { filename: options.filename ?? 'policy', strict, now, hash, warnings, pieces: piecesOf(root) }
}

/** Options of `compilePolicy`. */
export interface CompileOptions {
  /** Milliseconds of work in a slice; default 2. */
  readonly sliceMs?: number | undefined
  /** Times the slices; default the system's. */
  readonly clock?: Pick<Time, 'monotonic' | 'after'> | undefined
}

const PORTABLE: Form = [
  (value) => typeof (value as PortablePolicy | null | undefined)?.pieces?.[Symbol.iterator] === 'function',
  'what readPortable gave',
]
const COMPILE_FORMS: Readonly<Record<string, Form>> = {
  sliceMs: [(value) => typeof value === 'number' && value > 0, 'a number of milliseconds above 0'],
  clock: having('a clock with monotonic and after', 'after'),
}

/**
 * Compiles the result of `readPortable` in slices, between which the thread does other work. 250 kB take several hundred milliseconds.
 * Takes `pieces` one by one, so that each can be deserialized in a slice. Rejects with a LimiterError INVALID_OPTIONS if `portable` was not
 * returned by `readPortable`.
 */
export async function compilePolicy(portable: PortablePolicy, options: CompileOptions = {}): Promise<Policy> {
  requireForm('compilePolicy', 'portable', portable, PORTABLE)
  checkOptions('compilePolicy', options, COMPILE_FORMS)
  const { sliceMs = 2, clock = systemTime } = options
  const { filename, strict, now, hash, warnings, pieces } = portable
  const issues = createIssues(filename, () => ({ line: 1, column: 1 }), strict)
  return inSlices(
    (function* () {
      const root = yield* treeOf(pieces)
      return policyOf(yield* compileTree(root, now, issues), warnings, hash)
    })(),
    clock,
    sliceMs,
  )
}
