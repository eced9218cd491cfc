import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** `few` in `npm test`; where it is not given, all. */
    draws: 'few' | 'all'
  }
}

/**
 * How many random cases a test draws: `few` in `npm test`. `npm run test:stores` runs every file that imports this function, and draws
 * `all`.
 */
export function draws(all: number, few: number): number {
  return inject('draws') === 'few' ? few : all
}
