import type { Request } from '../identity/request.ts'
import { derived, parseSource, repeatable, type Source, valuesOf } from '../identity/source.ts'
import type { PolicyNode } from './node.ts'
import type { Issues } from './issues.ts'

const NAMED = /^(jwt|header|query):([A-Za-z0-9_-]{1,128})$/
/** In the format, and refused where no source reads them. */
const FIXED = ['ip:address', 'ip:country', 'ip:asn', 'ip:type', 'ip:tor', 'ua:bot', 'ua:bot_category']

export const DESCRIPTOR_FORM: string = `jwt:<name>, header:<name> or query:<name> with a name of letters, digits, _ and -, or ${FIXED.filter((text) => parseSource(text) !== undefined).join(', ')}`

/**
 * The source that a descriptor key names: an empty text counts as missing, and in names of headers `-` and `_` are one (Fairvisor's Token
 * Bucket). Reported and undefined where there is none.
 */
export function readDescriptor(node: PolicyNode, path: string, issues: Issues): Source | undefined {
  const text = node.kind === 'scalar' && node.type === 'text' ? node.text : ''
  const [, kind, name = ''] = NAMED.exec(text) ?? []
  if (kind === 'header')
    return filled(repeatable(`header:${canonicalHeader(name)}`, (request) => headerValues(canonicalHeader(name), request)))
  if (kind === 'query') warnOfQuery(node, path, text, issues)
  if (text === 'ua:bot') issues.warn(node.at, `${path}: ua:bot knows other programs by name than Fairvisor's list does`)
  if (kind === 'query') return filled(repeatable(text, (request) => valuesOf('query', name, request)))
  const source = kind === 'jwt' || FIXED.includes(text) ? parseSource(text) : undefined
  if (source !== undefined) return filled(source)
  if (FIXED.includes(text))
    issues.add(node.at, path, `${path} ${text} is not yet supported: expected ${DESCRIPTOR_FORM}`, {
      value: text,
      allowed: DESCRIPTOR_FORM,
    })
  else issues.wrong(node, path, DESCRIPTOR_FORM)
  return undefined
}

/** Says whose query is read. */
export function warnOfQuery({ at }: PolicyNode, path: string, text: string, issues: Issues): void {
  issues.warn(
    at,
    `${path}: ${text} is read from X-Original-URI where a decision call has that, and Fairvisor reads the query of the call itself`,
  )
}

export function canonicalHeader(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** All values of a header, in whichever of its spellings they stand. */
export function headerValues(canonical: string, request: Request): readonly string[] {
  const values = valuesOf('header', canonical, request)
  if (!canonical.includes('-')) return values
  const others = Object.keys(request.headers).filter((name) => name.includes('_') && canonicalHeader(name) === canonical)
  return others.length === 0 ? values : [...values, ...others.flatMap((name) => valuesOf('header', name, request))]
}

/** The same source, with an empty text as if it were missing. */
function filled(source: Source): Source {
  const { text, neutral } = source
  return { ...derived(source, text, (value) => (value === '' ? undefined : value)), ...(neutral === undefined ? {} : { neutral }) }
}
