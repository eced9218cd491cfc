import { createLimiter, tokenBucket } from 'sluice'
import { channel, throttleFunction, throttleIterable, throttleStream } from 'sluice/pacing'

const limit = tokenBucket({ rate: '10/s', burst: 2 })
const started = performance.now()
const print = (text: string): void => console.log(`${(performance.now() - started).toFixed(0).padStart(5)} ms  ${text}`)

// A function that is called five times at once. The first two calls run at once, the others when their tokens are there.
const send = throttleFunction((name: string) => print(`mail to ${name}`), limit)
await Promise.all(['Ada', 'Grace', 'Edsger', 'Barbara', 'Tony'].map((name) => send(name)))

// Functions that share a limiter share its tokens. With a Redis store in the limiter, several processes would share them too.
const shared = createLimiter({ name: 'provider', limit })
const add = throttleFunction((a: number, b: number) => print(`${a} + ${b} = ${a + b}`), shared)
const subtract = throttleFunction((a: number, b: number) => print(`${a} - ${b} = ${a - b}`), shared)
await Promise.all([add(1, 2), subtract(3, 2), add(5, 8)])

// An iterable, such as the pages of a list that an API returns, or a stream of Node.
for await (const page of throttleIterable(['one', 'two', 'three', 'four'], limit)) print(`page ${page}`)

// A stream of bytes: each byte takes a token, and no part has more bytes than the burst has tokens.
const text = new ReadableStream<Uint8Array>({
  start(controller) {
    controller.enqueue(new TextEncoder().encode('to be read slowly'))
    controller.close()
  },
})
const slow = tokenBucket({ rate: '100/s', burst: 5 })
for await (const part of text.pipeThrough(throttleStream<Uint8Array>(slow, { bytes: true })))
  print(`bytes "${new TextDecoder().decode(part)}"`)

// A channel between tasks: one puts, two take. At most three jobs wait in it, so the task that puts cannot run ahead.
const jobs = channel<string>(limit, { capacity: 3 })
const worker = async (): Promise<void> => {
  for await (const job of jobs) print(`job ${job}`)
}
const workers = [worker(), worker()]
for (const job of ['a', 'b', 'c', 'd', 'e', 'f']) await jobs.put(job)
jobs.close()
await Promise.all(workers)
