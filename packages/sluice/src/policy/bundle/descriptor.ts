import type { Request } from '../../identity/request.ts'
import { derived, parseSource, repeatable, type Source, valuesOf } from '../../identity/source.ts'
import { textOf, type Value } from '../document/value.ts'
import { defined } from '../model/defined.ts'

const NAMED = /^(jwt|header|query):([A-Za-z0-9_-]{1,128})$/
/** Fixed names of the format; those unknown to `parseSource` are refused. */
const FIXED = ['ip:address', 'ip:country', 'ip:asn', 'ip:type', 'ip:tor', 'ua:bot', 'ua:bot_category']

export const DESCRIPTOR_FORM: string = `jwt:<name>, header:<name> or query:<name> with a name of letters, digits, _ and -, or ${FIXED.filter((text) => parseSource(text) !== undefined).join(', ')}`

/** An empty value counts as missing. In header names `-` and `_` are the same character. */
export function readDescriptor(value: Value): Source | undefined {
  const text = textOf(value.node) ?? ''
  const [, kind, name = ''] = NAMED.exec(text) ?? []
  if (kind === 'header') {
    const canonical = canonicalHeader(name)
    return filled(repeatable(`header:${canonical}`, (request) => headerValues(canonical, request)))
  }
  if (kind === 'query') warnOfQuery(value, text)
  if (text === 'ua:bot') value.warn(": ua:bot knows other programs by name than Fairvisor's list does")
  if (kind === 'query') return filled(repeatable(text, (request) => valuesOf('query', name, request)))
  const isFixed = FIXED.includes(text)
  const source = kind === 'jwt' || isFixed ? parseSource(text) : undefined
  if (source !== undefined) return filled(source)
  if (!isFixed) return value.wrong(DESCRIPTOR_FORM)
  return value.refuse(` ${text} is not yet supported: expected ${DESCRIPTOR_FORM}`, { value: text, allowed: DESCRIPTOR_FORM })
}

export function warnOfQuery(value: Value, text: string): void {
  value.warn(`: ${text} is read from X-Original-URI where a decision call has that, and Fairvisor reads the query of the call itself`)
}

export function canonicalHeader(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

export function headerValues(canonical: string, request: Request): readonly string[] {
  const values = valuesOf('header', canonical, request)
  if (!canonical.includes('-')) return values
  const others = Object.keys(request.headers).filter((name) => name.includes('_') && canonicalHeader(name) === canonical)
  return others.length === 0 ? values : [...values, ...others.flatMap((name) => valuesOf('header', name, request))]
}

/** Treats an empty text as missing. */
function filled(source: Source): Source {
  const { text, neutral } = source
  return { ...derived(source, text, (value) => (value === '' ? undefined : value)), ...defined({ neutral }) }
}
