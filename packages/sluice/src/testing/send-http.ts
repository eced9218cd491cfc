import { Agent, request } from 'node:http'

/** The response of an HTTP server, with header names in lower case. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
  /** Whether the connection had carried a response before. */
  readonly reused: boolean
}

export interface HttpRequest {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent?: Agent
}

/** Sends one request over HTTP/1.1; rejects if the connection breaks. */
export function sendRequest(url: string, { path = '/', method = 'GET', headers = {}, body, agent }: HttpRequest = {}): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
          reused: sent.reusedSocket,
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Keeps one connection for all its requests, one after another. */
export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}
