import type { PolicyNode } from './node.ts'
import { PolicyError, type PolicyIssue } from './policy-error.ts'

/** The issues of one policy, collected so that one parse reports all of them. */
export interface Issues {
  readonly failed: boolean
  /** @param at offset in the text */
  add(at: number, path: string, message: string, more?: { readonly value?: string; readonly allowed?: string }): void
  /** Adds `<path> is <value>: expected <allowed>`. */
  wrong(node: PolicyNode, path: string, allowed: string): void
  /** Adds an issue for a part of the format that this version refuses rather than ignores. */
  notYet(at: number, path: string): void
  warn(at: number, message: string): void
  readonly warnings: readonly string[]
  /** @throws PolicyError if an issue was added */
  settle(): void
}

export type Position = (at: number) => { readonly line: number; readonly column: number }

/** The most issues that are reported for one text. */
const MAX_ISSUES = 100
const MAX_MESSAGE_LENGTH = 500

/** Shortens a message, because a parser quotes the text that it could not read, however long it is. */
function cut(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH)}...`
}

export function createIssues(file: string, position: Position): Issues {
  const found: PolicyIssue[] = []
  const warnings: string[] = []
  const add: Issues['add'] = (at, path, message, more = {}) => {
    if (found.length < MAX_ISSUES) found.push({ file, ...position(at), path, ...more, message: cut(message) })
  }
  return {
    get failed() {
      return found.length > 0
    },
    add,
    wrong(node, path, allowed) {
      const value = show(node)
      add(node.at, path, `${path === '' ? 'the policy' : path} is ${value}: expected ${allowed}`, { value, allowed })
    },
    notYet(at, path) {
      add(at, path, `${path} is not yet supported`)
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

const MAX_SHOWN_LENGTH = 60

/** A value as a message shows it: short, in one line. */
function show(node: PolicyNode): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a map'
  if (node.type === 'null') return 'empty'
  const short = node.text.length > MAX_SHOWN_LENGTH ? `${node.text.slice(0, MAX_SHOWN_LENGTH)}...` : node.text
  return node.type === 'text' ? JSON.stringify(short) : short
}

/** `a.b`, or `a["/b c"]` for a name that is not a plain word. */
export function join(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${JSON.stringify(name.slice(0, MAX_SHOWN_LENGTH))}]`
  return path === '' ? name : `${path}.${name}`
}
