import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeEach, describe, expect } from 'vitest'
import { createGate } from '../../src/http.ts'
import { adapterBench } from '../../src/testing/adapter-bench.ts'
import { slotCases } from '../../src/testing/adapter-slots.ts'
import { listen } from './listen.ts'

const FAILING = 'a client that leaves while the handler runs holds nothing'

// The case waits for a slot that is never free, so it ends with the timeout.
describe('the adapter suite finds an adapter that keeps the slots of clients that leave', { timeout: 3_000 }, () => {
  const found: string[] = []
  beforeEach(({ skip, task }) => {
    skip(task.name !== FAILING, 'only one case must fail')
    Object.assign(task, { fails: true })
    found.push(task.name)
  })
  afterAll(() => expect(found).toEqual([FAILING]))
  slotCases(
    adapterBench<IncomingMessage>({
      header: ({ headers }, name) => headers[name]?.toString(),
      path: ({ url }) => url ?? '',
      async serve(options, _answer, mayAnswer) {
        const gate = createGate(options, {
          method: ({ method = '' }) => method,
          target: ({ url = '' }) => url,
          headers: ({ headers }) => headers,
        })
        const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
          const { release } = await gate.check(request, request.socket.remoteAddress)
          response.once('finish', () => void release?.())
          await mayAnswer
          response.end('hello')
        }
        return listen((request, response) => void answer(request, response))
      },
    }),
  )
})
