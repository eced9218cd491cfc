import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** `few` in `npm test`; where it is not given, all. */
    draws: 'few' | 'all'
  }
}

/** How many random cases a test draws: a few in `npm test`, and all of them in `npm run test:stores`, which runs every file that imports this. */
export function draws(all: number, few: number): number {
  return inject('draws') === 'few' ? few : all
}
