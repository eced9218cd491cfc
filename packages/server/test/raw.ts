import { connect } from 'node:net'

/** Sends bytes as they are, and `more` once an answer has begun. Returns all that comes back until the other side closes the connection. */
export function exchange(url: string, text: string | Uint8Array, more?: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let received = ''
    socket.on('data', (data) => (received += data.toString()))
    if (more !== undefined) socket.once('data', () => socket.write(more))
    socket.once('error', reject)
    socket.once('close', () => resolve(received))
  })
}

/** Returns the status of one request. Its method and target are sent exactly as given. */
export async function statusOf(url: string, method: string, target: string): Promise<number> {
  const answer = await exchange(url, `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
}
