import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * `json-server.js constant | print FILE`: reads a body and answers with what stands in the file. `constant` does not look at the
 * body; `print` parses it, and prints the answer from what it stands for each time.
 */
const [kind = '', file = ''] = process.argv.slice(2)
const answer = readFileSync(file, 'utf8')
const value = JSON.parse(answer) as unknown
if (kind !== 'constant' && kind !== 'print') throw new Error(`no server is called ${kind}`)

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (body += chunk))
  request.on('end', () => send(response, kind === 'constant' ? constant(body) : print(body), request))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

function constant(body: string): string {
  return body === '' ? '' : answer
}

function print(body: string): string {
  return JSON.parse(body) === null ? '' : `${JSON.stringify(value)}\n`
}

function send(response: ServerResponse, text: string, { method }: IncomingMessage): void {
  response.statusCode = method === 'POST' && text !== '' ? 200 : 400
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}
