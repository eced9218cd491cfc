import type { StateId } from '../store.ts'

/** A state's name in maps of the ring. Unique, because scopes contain no spaces; cheaper than `stateName`. */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}
