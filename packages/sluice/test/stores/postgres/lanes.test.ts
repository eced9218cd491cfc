import { describe, expect, it } from 'vitest'
import { createLanes, type Locking } from '../../../src/stores/postgres/lanes.ts'
import type { PostgresPort, Row } from '../../../src/stores/postgres/clients/postgres-port.ts'
import type { CallOptions } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing.ts'

const STATEMENT = { text: 'plain', bounded: 'bounded' }

/** Lanes over a client whose replies the test gives itself. */
function byHand(port: Partial<PostgresPort>) {
  const clock = manualClock()
  const sent: { text: string; values: readonly string[]; reply: (rows: readonly Row[]) => void }[] = []
  const client: PostgresPort = {
    query: (text, values) => new Promise((reply) => sent.push({ text, values, reply })),
    run: async () => {},
    ...port,
  }
  const lanes = createLanes(client, 100, clock)
  const sendOne = (locking: Locking, options?: CallOptions) =>
    lanes.run(() => lanes.send(STATEMENT, ['a'], options, locking), options, locking)
  return { clock, sent, sendOne }
}
const failureOf = (pending: Promise<unknown>): Promise<unknown> =>
  pending.then(
    () => 'a reply',
    (error: unknown) => error,
  )
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('lanes of a PostgreSQL client', () => {
  it.each<[string, Partial<PostgresPort>, Locking, CallOptions | undefined, string, readonly string[]]>([
    ['a wait ends shortly before the deadline', {}, 'wait', { deadline: 50 }, 'bounded', ['a', '45']],
    ['or two milliseconds before it, if it is near', {}, 'wait', { deadline: 10 }, 'bounded', ['a', '8']],
    ['and lasts a millisecond at least', { connections: 2 }, 'wait', { deadline: 1.5 }, 'bounded', ['a', '1']],
    ['without a deadline it has no end', {}, 'wait', undefined, 'plain', ['a']],
    ['who does not wait waits a millisecond', {}, 'fail', { deadline: 50 }, 'bounded', ['a', '1']],
    ['the same without a deadline', { connections: 1 }, 'fail', undefined, 'bounded', ['a', '1']],
    ['who locks nothing says nothing', {}, 'none', { deadline: 50 }, 'plain', ['a']],
    ['nobody else locks rows of an embedded database', { connections: 1, embedded: true }, 'wait', { deadline: 50 }, 'plain', ['a']],
    ['nor those of calls that fail', { connections: 1, embedded: true }, 'fail', { deadline: 50 }, 'plain', ['a']],
  ])('%s', async (_, port, locking, options, text, values) => {
    const { sent, sendOne } = byHand(port)
    const pending = sendOne(locking, options)
    sent[0]?.reply([])
    expect(await pending).toEqual([])
    expect(sent).toMatchObject([{ text, values }])
  })

  it('half of the connections is for those that may wait; the rest of them is never sent once given up', async () => {
    const { clock, sent, sendOne } = byHand({ connections: 5 })
    const waits = Array.from({ length: 4 }, () => failureOf(sendOne('wait', { deadline: 50 })))
    expect(sent).toHaveLength(2)
    const others = [sendOne('fail', { deadline: 50 }), sendOne('none', { deadline: 50 }), sendOne('fail', { deadline: 50 })]
    expect(sent).toHaveLength(5)
    const last = failureOf(sendOne('none', { deadline: 50 }))
    expect(sent).toHaveLength(5)
    for (const { reply } of sent.slice(2)) reply([])
    await Promise.all(others)
    expect(sent).toHaveLength(6)
    clock.advance(50)
    const unknown = { kind: 'timeout', executed: 'unknown' }
    const unsent = { kind: 'timeout', executed: 'no' }
    expect(await Promise.all(waits)).toMatchObject([unknown, unknown, unsent, unsent])
    expect(await last).toMatchObject(unknown)
    for (const { reply } of sent) reply([])
    await turn()
    expect(sent).toHaveLength(6)
  })

  it('one that may wait and finds all connections in use was not executed when it is given up', async () => {
    const { clock, sent, sendOne } = byHand({ connections: 2 })
    const busy = [sendOne('none'), sendOne('none')]
    const controller = new AbortController()
    const late = failureOf(sendOne('wait', { deadline: 50 }))
    const left = failureOf(sendOne('wait', { deadline: 80, signal: controller.signal }))
    clock.advance(50)
    expect(await late).toMatchObject({ kind: 'timeout', executed: 'no' })
    await turn()
    controller.abort()
    expect(await left).toMatchObject({ kind: 'aborted', executed: 'no' })
    for (const { reply } of sent) reply([])
    await Promise.all(busy)
    await turn()
    expect(sent).toHaveLength(2)
    const next = sendOne('wait')
    sent[2]?.reply([])
    expect(await next).toEqual([])
  })

  it('the time left is that when it is sent', async () => {
    const { clock, sent, sendOne } = byHand({ connections: 1 })
    const first = sendOne('none')
    const second = sendOne('wait', { deadline: 50 })
    clock.advance(20)
    sent[0]?.reply([])
    await first
    await turn()
    expect(sent[1]).toMatchObject({ text: 'bounded', values: ['a', '27'] })
    sent[1]?.reply([])
    await second
  })
})
