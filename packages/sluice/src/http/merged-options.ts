import { withDefaults } from '../errors/options.ts'
import { type GateOptions, isCounting, isWaiting } from './gate-options.ts'

/** Options of the route take precedence, if they are not undefined. Options of all routes that contradict them are left out. */
export function mergedOptions<Options extends Partial<GateOptions<never, never>>>(all: Options, route: Partial<Options>): Options {
  const usual = { ...all } as Record<string, unknown>
  const drop = (names: readonly (keyof GateOptions<unknown> | 'onDenied')[]): void => {
    for (const name of names) delete usual[name]
  }
  const { onDenied } = route as { readonly onDenied?: unknown }
  const decidesAtOnce = route.engine !== undefined || isCounting(route)
  if (typeof onDenied === 'function' || decidesAtOnce) drop(['maxWaitMs', 'maxWaiting'])
  if (decidesAtOnce && isWaiting(all)) drop(['onDenied'])
  if (isWaiting(route)) drop(['countWhen', 'actualCost'])
  if (!isCounting(withDefaults(usual as Options, route))) drop(['holdMs'])
  if (route.limiter !== undefined || route.engine !== undefined) drop(['limiter', 'engine', 'limit'])
  if (route.engine !== undefined) drop(['key', 'ipv6Prefix', 'trustedProxies'])
  if (route.key !== undefined) drop(['ipv6Prefix', 'trustedProxies'])
  if (route.ipv6Prefix !== undefined || route.trustedProxies !== undefined) drop(['key'])
  // With a key or an engine, onWarning is refused unless responses are counted.
  const merged = withDefaults(usual as Options, route)
  if ((merged.key !== undefined || merged.engine !== undefined) && !isCounting(merged)) drop(['onWarning'])
  return withDefaults(usual as Options, route)
}
