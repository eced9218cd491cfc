import { type ClientHttp2Session, connect, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A server of HTTP/2 without TLS on a free port of the loopback address, and a client's connection to it. */
export async function listenHttp2(
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Promise<{ readonly session: ClientHttp2Session; close(): void }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const close = (): void => {
    session.destroy()
    server.close()
  }
  return { session, close }
}
