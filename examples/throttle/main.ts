import { tokenBucket } from 'sluice'
import { throttleFunction, throttleIterable } from 'sluice/pacing'

const limit = tokenBucket({ rate: '10/s', burst: 2 })
const started = performance.now()
const print = (text: string): void => console.log(`${(performance.now() - started).toFixed(0).padStart(5)} ms  ${text}`)

// Called five times at once; the first two run, the others take their turn.
const send = throttleFunction((name: string) => print(`mail to ${name}`), limit)
await Promise.all(['Ada', 'Grace', 'Edsger', 'Barbara', 'Tony'].map((name) => send(name)))

for await (const page of throttleIterable(['one', 'two', 'three', 'four'], limit)) print(`page ${page}`)
