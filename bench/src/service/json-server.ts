import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * `json-server.js constant | print FILE`: reads a body and answers with the content of the file. `constant` does not parse the body;
 * `print` parses it, and serializes the answer for each request. It is as fast as `node:http` allows. Bytes are decoded only if they are
 * parsed, and the header fields are passed to `writeHead` as one list. With setHeader, setEncoding and byteLength a request would cost 1.2
 * to 1.3 times as much.
 */
const [kind = '', file = ''] = process.argv.slice(2)
const answer = readFileSync(file, 'utf8')
const value = JSON.parse(answer) as unknown
const CONSTANT = fieldsOf(answer)
if (kind !== 'constant' && kind !== 'print') throw new Error(`no server is called ${kind}`)

const server = createServer(kind === 'constant' ? constant : print)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

function constant(request: IncomingMessage, response: ServerResponse): void {
  let length = 0
  request.on('data', (chunk: Buffer) => (length += chunk.length))
  request.on('end', () => {
    response.writeHead(request.method === 'POST' && length > 0 ? 200 : 400, CONSTANT)
    response.end(answer)
  })
}

function print(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    const parsed = body.length === 0 ? null : (JSON.parse(body.toString()) as unknown)
    const text = `${JSON.stringify(value)}\n`
    response.writeHead(request.method === 'POST' && parsed !== null ? 200 : 400, fieldsOf(text))
    response.end(text)
  })
}

function fieldsOf(text: string): string[] {
  return ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))]
}
