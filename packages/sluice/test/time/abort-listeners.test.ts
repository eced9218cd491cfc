import { describe, expect, it, vi } from 'vitest'
import { onAbort } from '../../src/time/abort-listeners.ts'

describe('onAbort', () => {
  it('runs all in order, once, but those that were cancelled, also by an earlier one', () => {
    const controller = new AbortController()
    const added = vi.spyOn(controller.signal, 'addEventListener')
    const ran: string[] = []
    const again = (): void => void ran.push('again')
    onAbort(controller.signal, again)
    onAbort(controller.signal, () => {
      ran.push('a')
      cancelB()
    })
    const cancelB = onAbort(controller.signal, () => void ran.push('b'))
    const cancelC = onAbort(controller.signal, () => void ran.push('c'))
    onAbort(controller.signal, again)
    cancelC()
    cancelC()
    controller.abort()
    expect(ran).toEqual(['again', 'a', 'again'])
    expect(added).toHaveBeenCalledTimes(1)
  })

  it('removes its listener with the last one, and listens again for the next', () => {
    const controller = new AbortController()
    const [added, removed] = [vi.spyOn(controller.signal, 'addEventListener'), vi.spyOn(controller.signal, 'removeEventListener')]
    const fn = vi.fn<() => void>()
    const cancels = [onAbort(controller.signal, fn), onAbort(controller.signal, fn)]
    for (const cancel of cancels) cancel()
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1])
    onAbort(controller.signal, fn)
    controller.abort()
    expect(added.mock.calls.length).toBe(2)
    expect(fn).toHaveBeenCalledTimes(1)
  })
})
