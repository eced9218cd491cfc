import { PolicyError, type PolicyIssue } from './policy-error.ts'

export interface Issues {
  /** Whether a dialect refuses the parts that it otherwise ignores. */
  readonly strict: boolean
  readonly failed: boolean
  /** @param at offset in the text */
  add(at: number, path: string, message: string, more?: Shown): undefined
  warn(at: number, message: string): void
  readonly warnings: readonly string[]
  /** @throws PolicyError if an issue was added */
  settle(): void
}

export type Shown = Pick<PolicyIssue, 'value' | 'allowed'>

export type Position = (at: number) => { readonly line: number; readonly column: number }

const MAX_ISSUES = 100
const MAX_MESSAGE_LENGTH = 500

/** A parser quotes the whole text that it could not read. */
function cut(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH)}...`
}

export function createIssues(file: string, position: Position, strict: boolean = false): Issues {
  const found: PolicyIssue[] = []
  const warnings: string[] = []
  return {
    strict,
    get failed() {
      return found.length > 0
    },
    add(at, path, message, more = {}) {
      if (found.length < MAX_ISSUES) found.push({ file, ...position(at), path, ...more, message: cut(message) })
    },
    warn(at, message) {
      const { line, column } = position(at)
      if (warnings.length < MAX_ISSUES) warnings.push(`${file}:${line}:${column}: ${cut(message)}`)
      else if (warnings.length === MAX_ISSUES) warnings.push(`${file}: there are more warnings`)
    },
    warnings,
    settle() {
      if (found.length > 0) throw new PolicyError(found.toSorted((a, b) => a.line - b.line || a.column - b.column))
    },
  }
}
