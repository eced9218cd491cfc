import { FLOOD_MS, type ServerGrant } from '../http/audit.ts'

const CALLERS = 8

/** Floods `/v1/checks` with lists of checks for one key from 8 callers, as `floodServer` does with single requests. */
export async function floodLists(port: number, key: string, length: number): Promise<ServerGrant> {
  let [total, allowed] = [0, 0]
  const check = async (count: number): Promise<void> => {
    const body = JSON.stringify(Array.from({ length: count }, () => ({ key })))
    const response = await fetch(`http://127.0.0.1:${port}/v1/checks`, { method: 'POST', body })
    const decisions = (await response.json()) as readonly { readonly allowed: boolean }[]
    total += decisions.length
    allowed += decisions.filter((decision) => decision.allowed).length
  }
  const began = performance.now()
  await check(1)
  const flooded = performance.now()
  const caller = async (): Promise<void> => {
    while (performance.now() < flooded + FLOOD_MS) await check(length)
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const ended = performance.now()
  return { total, allowed, floodMs: ended - flooded, elapsedMs: ended - began }
}
