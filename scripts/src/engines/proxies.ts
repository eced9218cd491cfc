import { findBinary, type Found } from './find.ts'

/** The proxies whose configurations are in `examples`. */
export const PROXIES = ['nginx', 'caddy', 'haproxy'] as const
export type ProxyName = (typeof PROXIES)[number]

export function findProxy(name: ProxyName): Found {
  return findBinary(name, ['/usr/sbin'], name)
}
