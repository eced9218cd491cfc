import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { createSystemTime, systemTime } from '../../src/time/system.ts'

/** Holds the event loop, as a long computation would. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function socketPair(): Promise<{ near: Socket; far: Socket; close(): void }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  if (near.connecting) await once(near, 'connect')
  return {
    near,
    far,
    close: () => {
      near.destroy()
      far.destroy()
      server.close()
    },
  }
}

describe('systemTime', () => {
  it('waits longer than a timer of the runtime can', () => {
    vi.useFakeTimers()
    try {
      let fired = 0
      systemTime.after(2 ** 31 + 5_000, () => (fired += 1))
      const cancelled = systemTime.after(2 ** 32, () => (fired += 1))
      // Time is simulated. A real timer of more than 2^31 ms would fire at once, be set again, and repeat that millions of times.
      vi.advanceTimersByTime(2 ** 31 + 4_000)
      expect(fired).toBe(0)
      vi.advanceTimersByTime(2_000)
      expect(fired).toBe(1)
      cancelled()
      vi.advanceTimersByTime(2 ** 32)
      expect([fired, vi.getTimerCount()]).toEqual([1, 0])
    } finally {
      vi.useRealTimers()
    }
  })

  it('never goes back', () => {
    let [last, lastMonotonic] = [0, 0]
    for (let index = 0; index < 100_000; index += 1) {
      const [now, monotonic] = [systemTime.now(), systemTime.monotonic()]
      if (now < last || monotonic < lastMonotonic) expect([now, monotonic]).toEqual([last, lastMonotonic])
      ;[last, lastMonotonic] = [now, monotonic]
    }
    expect(Number.isSafeInteger(last)).toBe(true)
    expect(Math.abs(last / 1_000 - Date.now())).toBeLessThan(1_000)
  })

  it('follows the wall clock forward, after a sleep of the machine, and never back', () => {
    const real = Date.now()
    const wall = vi.spyOn(Date, 'now')
    let elapsed = 1_000
    const monotonic = vi.spyOn(performance, 'now').mockImplementation(() => elapsed)
    try {
      wall.mockReturnValue(real)
      const time = createSystemTime()
      expect(time.now()).toBe(real * 1_000)
      elapsed += 300
      wall.mockReturnValue(real - 3_600_000)
      expect(time.now()).toBe((real + 300) * 1_000)
      elapsed += 300
      wall.mockReturnValue(real + 3_600_000)
      expect(time.now()).toBe((real + 3_600_000) * 1_000)
      elapsed += 300
      wall.mockReturnValue(real)
      expect(time.now()).toBe((real + 3_600_300) * 1_000)
    } finally {
      wall.mockRestore()
      monotonic.mockRestore()
    }
  })

  it.each([0, 1, 2, 3])('is not ahead of the wall clock after the process was stopped before its reading %d of a clock', (readings) => {
    const start = Date.now()
    let [elapsed, left] = [0, Infinity]
    // The process is stopped once, for 200 ms, before one of the readings. Both clocks go on meanwhile.
    const read = (): number => {
      if (left === 0) elapsed += 200
      left -= 1
      return elapsed
    }
    const wall = vi.spyOn(Date, 'now').mockImplementation(() => start + read())
    const monotonic = vi.spyOn(performance, 'now').mockImplementation(read)
    try {
      const time = createSystemTime()
      elapsed += 300
      left = readings
      expect(time.now() / 1_000 - start).toBeLessThanOrEqual(elapsed)
      elapsed += 300
      expect(time.now() / 1_000 - start).toBe(elapsed)
    } finally {
      wall.mockRestore()
      monotonic.mockRestore()
    }
  })
})

describe('after', () => {
  it('does not run early, and not once it is cancelled', async () => {
    let cancelled = false
    const cancel = systemTime.after(1, () => (cancelled = true))
    cancel()
    cancel()
    const started = performance.now()
    await new Promise<void>((resolve) => systemTime.after(20, resolve))
    // Timers count in whole milliseconds of the loop's own clock.
    expect(performance.now() - started).toBeGreaterThan(18.9)
    expect(cancelled).toBe(false)
  })

  it('lets what has arrived go first: after a stall, a waiting answer counts as in time', async () => {
    const { near, far, close } = await socketPair()
    const order: string[] = []
    try {
      const answered = new Promise<void>((resolve) => {
        near.once('data', () => {
          order.push('answer')
          resolve()
        })
      })
      // In one turn of the event loop, the process stalls past both instants. An answer arrives during the stall.
      await new Promise((resolve) => setImmediate(resolve))
      setTimeout(() => order.push('bare timer'), 5)
      const fired = new Promise<void>((resolve) => {
        systemTime.after(5, () => {
          order.push('deadline')
          resolve()
        })
      })
      far.write('x')
      block(30)
      await Promise.all([answered, fired])
      expect(order).toEqual(['bare timer', 'answer', 'deadline'])
    } finally {
      close()
    }
  })

  it('can be cancelled by the answer that went first', async () => {
    const { near, far, close } = await socketPair()
    try {
      let late = false
      const cancel = systemTime.after(5, () => (late = true))
      const answered = once(near, 'data').then(cancel)
      far.write('x')
      block(30)
      await answered
      await new Promise((resolve) => setTimeout(resolve, 10))
      expect(late).toBe(false)
    } finally {
      close()
    }
  })
})
