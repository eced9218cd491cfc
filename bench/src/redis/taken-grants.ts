import { inChild } from '../in-child.ts'
import { once } from '../once.ts'
import type { PartOptions } from '../part.ts'
import type { Grant, GrantInput } from './grants.ts'
import type { Way } from './ways.ts'

/**
 * The load under which over-grant is measured. The default is 64 callers on one key, for the seconds of a comparison but at most one
 * second.
 */
export type GrantLoad = Partial<Pick<GrantInput, 'callers' | 'seconds'>>

export type GrantOf = (way: Way, load?: GrantLoad) => Promise<Grant>

const CALLERS = 64

/** Makes a function that returns the over-grant of a limiter under a load. Each is measured once in a run, when it is first requested. */
export function redisGrants(url: string, options: PartOptions): GrantOf {
  return (way, { callers = CALLERS, seconds = Math.min(1, options.seconds) } = {}) => {
    const name = `over-grant of ${way}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`
    return once(options, `${url} ${name}, ${seconds} s`, () => {
      options.say(name)
      const input: GrantInput = { url, seconds, way, callers }
      return inChild<Grant>('grant', input, { atEnd: options.atEnd, family: 'redis' })
    })
  }
}
