import { checkOptions, type Form, requireForm } from '../errors/options.ts'
import { systemTime } from '../time/system.ts'
import type { Time } from '../time/time.ts'
import { compileTree, policyOf } from './compile-tree.ts'
import { createIssues } from './document/issues.ts'
import { fingerprint, type ParseOptions, readTree } from './parse.ts'
import { type NodePiece, piecesOf, treeOf } from './document/pieces.ts'
import type { Policy } from './model/policy.ts'
import { finish, inSlices } from './model/sliced.ts'

/** A parsed and validated policy as plain data: another thread can compile it without parsing its text. */
export interface PortablePolicy {
  readonly filename: string
  readonly strict: boolean
  /** Microseconds since 1970 at which it was read. */
  readonly now: number
  readonly hash: string
  readonly warnings: readonly string[]
  /** Small parts of its tree, in order; each may be sent separately. */
  readonly pieces: Iterable<NodePiece>
}

/** As `parsePolicy`, but the result can be sent to another thread: parsing the text is most of the work. @throws PolicyError */
export function readPortable(source: string | Uint8Array, options: ParseOptions = {}): PortablePolicy {
  const { text, root, issues, strict, now } = readTree(source, options)
  finish(compileTree(root, { strict, now }, issues))
  const { warnings } = issues
  const pieces = root === undefined ? [] : piecesOf(root)
  return { filename: options.filename ?? 'policy', strict, now, hash: fingerprint(text), warnings, pieces }
}

export interface CompileOptions {
  /** Milliseconds of work in a slice; default 2. A slice then continues to its next pause point, which takes far less. */
  readonly sliceMs?: number
  readonly clock?: Pick<Time, 'monotonic' | 'after'>
}

const PORTABLE: Form = [
  (value) => typeof (value as PortablePolicy | null | undefined)?.pieces?.[Symbol.iterator] === 'function',
  'what readPortable gave',
]
const FORMS: Readonly<Record<string, Form>> = {
  sliceMs: [(value) => typeof value === 'number' && value > 0, 'a number of milliseconds above 0'],
  clock: [(value) => typeof (value as Time | null)?.after === 'function', 'a clock with monotonic and after'],
}

/**
 * Compiles the result of `readPortable`, in slices between which the thread does other work: 250 kB take some hundred milliseconds. It
 * takes `pieces` one by one, so that deserializing them can be part of the slices. Rejects with a LimiterError INVALID_OPTIONS for a
 * value that is not a result of `readPortable`.
 */
export async function compilePolicy(portable: PortablePolicy, options: CompileOptions = {}): Promise<Policy> {
  requireForm('compilePolicy', 'portable', portable, PORTABLE)
  checkOptions('compilePolicy', options, FORMS)
  const { sliceMs = 2, clock = systemTime } = options
  const { filename, strict, now, hash, warnings, pieces } = portable
  const issues = createIssues(filename, () => ({ line: 1, column: 1 }))
  return inSlices(
    (function* () {
      const root = yield* treeOf(pieces)
      return policyOf(yield* compileTree(root, { strict, now }, issues), warnings, hash)
    })(),
    clock,
    sliceMs,
  )
}
