const END_OF_HEAD = '\r\n\r\n'
const STATUS = /^HTTP\/1\.1 (\d{3})/
const LENGTH = /\r\ncontent-length: *(\d+)/i

/** Parses HTTP/1.1 answers from the bytes of a connection, wherever the chunks end, and reports their status codes. */
export interface ResponseReader {
  /** Parses the next bytes. @throws Error for an answer without a length */
  push(chunk: Buffer): void
}

export function createResponseReader(onResponse: (status: number) => void): ResponseReader {
  let rest: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let at = 0
      for (;;) {
        const end = bytes.indexOf(END_OF_HEAD, at)
        if (end < 0) break
        const head = bytes.toString('latin1', at, end)
        const [status, length] = [STATUS.exec(head)?.[1], LENGTH.exec(head)?.[1]]
        if (status === undefined || length === undefined) throw new Error(`no status or no length in the answer ${JSON.stringify(head)}`)
        const next = end + END_OF_HEAD.length + Number(length)
        if (next > bytes.length) break
        at = next
        onResponse(Number(status))
      }
      rest = bytes.subarray(at)
    },
  }
}
