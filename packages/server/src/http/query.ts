import { BadRequest } from './answer.ts'
import type { Routed } from './routes.ts'

/**
 * A misspelt `limit` would apply a change to every rule, so unknown parameters are refused.
 * @throws BadRequest without the parameter's value, which may be a key
 */
export function parametersOf({ query }: Pick<Routed, 'query'>, names: readonly string[]): URLSearchParams {
  for (const name of query.keys()) {
    const shown = JSON.stringify(name.slice(0, 60))
    const allowed = names.length === 0 ? 'it has none' : `allowed are ${names.join(', ')}`
    if (!names.includes(name)) throw new BadRequest(`The parameter ${shown} of the URL is not known here; ${allowed}.`)
    if (query.getAll(name).length > 1) throw new BadRequest(`The parameter ${shown} of the URL is given twice.`)
  }
  return query
}
