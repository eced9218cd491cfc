import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, describe, it, onTestFinished } from 'vitest'
import { closePort, openPort, twoTurns } from '../src/http/port.ts'

/**
 * A program that opens connections without a pause, until the port is closed. Then it reports how many were answered, refused and reset.
 */
const CLIENT = `import { connect } from 'node:net'
const found = { answered: 0, refused: 0, reset: 0 }
const state = { going: true, open: 0 }
const one = () => {
  const socket = connect({ host: '127.0.0.1', port: Number(process.argv[2]) })
  const seen = { connected: false, text: '' }
  state.open += 1
  socket.once('connect', () => { seen.connected = true; socket.write('request') })
  socket.on('data', (data) => (seen.text += data))
  socket.on('error', ({ code }) => { if (code === 'ECONNREFUSED') { found.refused += 1; state.going = false } else found.reset += 1 })
  socket.once('close', (failed) => {
    state.open -= 1
    if (seen.text !== '') found.answered += 1
    else if (seen.connected && !failed) found.reset += 1
    if (!state.going && state.open === 0) process.send(found, () => process.exit(0))
  })
}
setInterval(() => { for (let more = 0; state.going && state.open < 60 && more < 20; more += 1) one() }, 1)
process.send('begun')
`

interface Found {
  readonly answered: number
  readonly refused: number
  readonly reset: number
}

describe.skipIf(process.platform !== 'linux')('R15: a port that is closed while others connect without a pause', () => {
  it('resets none of those who had connected', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-port-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const client = join(folder, 'client.mjs')
    writeFileSync(client, CLIENT)
    const all = { answered: 0, refused: 0, reset: 0 }
    for (let round = 0; round < 2; round += 1) {
      let arrived = 0
      const server = createServer((socket: Socket) => {
        arrived += 1
        // Accepting a connection takes 0.3 ms here. Connections arrive faster, so there is always one that waits to be accepted.
        for (const until = performance.now() + 0.3; performance.now() < until;);
        socket.on('error', () => {})
        socket.once('data', () => socket.end('answer'))
      })
      const port = await openPort(server, { host: '127.0.0.1', port: 0 })
      const child = fork(client, [String(port)], { execArgv: [] })
      const found = new Promise<Found>((resolve) =>
        child.on('message', (message) => typeof message === 'object' && resolve(message as Found)),
      )
      await expect.poll(() => arrived, { timeout: 20_000, interval: 5 }).toBeGreaterThan(200)
      await closePort(server, () => arrived, twoTurns)
      const { answered, refused, reset } = await found
      all.answered += answered
      all.refused += refused
      all.reset += reset
    }
    expect(all.answered).toBeGreaterThan(400)
    expect(all.refused).toBeGreaterThan(0)
    expect(all.reset).toBe(0)
  })
})
