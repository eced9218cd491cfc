import { startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'

export interface ProxyInput {
  /** The server's port on this machine. */
  readonly port: number
  /** The milliseconds that the proxy adds to a round trip; see `Scenario`. */
  readonly delayMs: number
  readonly seed: number
}

export interface ProxyReport {
  /** The 99th percentile of how much later than due bytes were forwarded, in milliseconds; 0 without a delay. */
  readonly lagP99Ms: number
}

export interface Proxy {
  readonly url: string
  /** Stops the proxy. */
  close(): Promise<ProxyReport>
}

/** Starts a proxy before the server, in a process of its own. */
export async function openProxy(url: string, { delayMs, atEnd }: Pick<ProxyInput, 'delayMs'> & Pick<PartOptions, 'atEnd'>): Promise<Proxy> {
  const target = new URL(url)
  const input: ProxyInput = { port: Number(target.port), delayMs, seed: 1 }
  const { hello, invoke, kill } = await startOrdered('proxy-process.js', import.meta.url, input, { atEnd })
  target.port = String(hello)
  return {
    url: target.href,
    close: async () => {
      const report = (await invoke('report')) as ProxyReport
      kill()
      return report
    },
  }
}
