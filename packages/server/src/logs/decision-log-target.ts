import { type Stats, write as writeFd } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { failed, usage } from '../cli/failure.ts'

export interface Target {
  /** Rejects if any part of the text could not be written. */
  write(text: string): Promise<void>
  /** If that fails, later writes go to the file opened before. */
  reopen(): Promise<void>
  close(): Promise<void>
}

/** A pipe takes a write of at most this many bytes as a whole: lines of several processes do not mix. */
const PIPE_BYTES = 4_096
const NEWLINE = 10
const writeStdout = promisify(writeFd) as (fd: number, text: string) => Promise<unknown>

/**
 * @param name `-` for stdout
 * @throws CommandFailure exit 1 if the target cannot be opened, exit 3 if it exists and is not a regular file
 */
export function openTarget(name: string): Promise<Target> {
  return name === '-' ? openStdout() : openFile(name)
}

async function openFile(name: string): Promise<Target> {
  let file = await openRegular(name)
  // One after the other: a file that is closed in the middle of a write would lose its lines.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (job: () => Promise<void>): Promise<void> => {
    const done = last.then(job)
    last = done.catch(() => {})
    return done
  }
  const swap = async (): Promise<void> => {
    const opened = await openRegular(name)
    const before = file
    file = opened
    await before.close()
  }
  return {
    write: (text) => inTurn(() => append(file, text)),
    reopen: () => inTurn(swap),
    close: () => inTurn(() => file.close()),
  }
}

/** A full disk may have cut off the last line, of this process or of another. The next line must not be joined to it. */
async function append(file: FileHandle, text: string): Promise<void> {
  await file.appendFile((await isTorn(file)) ? `\n${text}` : text)
}

async function isTorn(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size === 0) return false
  // A file that may not be read is only appended to.
  const last = await file.read(Buffer.alloc(1), 0, 1, size - 1).catch(() => undefined)
  return last?.bytesRead === 1 && last.buffer[0] !== NEWLINE
}

async function openRegular(name: string): Promise<FileHandle> {
  const found = await stat(name).catch(() => undefined)
  if (found?.isFile() === false)
    throw usage(`decision log ${name} is ${kindOf(found)}; expected a regular file, a new one, or - for stdout`)
  const readable = await open(name, 'a+').catch(() => undefined)
  if (readable !== undefined) return readable
  return open(name, 'a').catch((error: NodeJS.ErrnoException) => {
    throw failed(`decision log ${name} cannot be written: ${error.code ?? error.message}`)
  })
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  return found.isFIFO() ? 'a pipe' : 'a device or a socket'
}

/** A pipe or a socket is written without a thread: a thread that waits for the reader would keep the process from ending. */
async function openStdout(): Promise<Target> {
  const socket = stdoutSocket()
  const write = socket === undefined ? (text: string) => writeStdout(1, text).then(() => {}) : writeTo(socket)
  return {
    async write(text) {
      for (const chunk of chunksOf(text)) await write(chunk)
    },
    reopen: async () => {},
    close: async () => void socket?.destroy(),
  }
}

function stdoutSocket(): Socket | undefined {
  try {
    const socket = new Socket({ fd: 1, readable: false, writable: true })
    // Each write reports its own error.
    return socket.on('error', () => {})
  } catch {
    return undefined
  }
}

function writeTo(socket: Socket): (text: string) => Promise<void> {
  return (text) =>
    new Promise((resolve, reject) => {
      socket.write(text, (error) => (error ? reject(error) : resolve()))
    })
}

/** A chunk has at most PIPE_BYTES, unless a single line is longer. */
function chunksOf(text: string): string[] {
  const chunks: string[] = []
  let chunk = ''
  for (const line of text.split(/(?<=\n)/)) {
    if (Buffer.byteLength(chunk) + Buffer.byteLength(line) > PIPE_BYTES && chunk !== '') {
      chunks.push(chunk)
      chunk = ''
    }
    chunk += line
  }
  return [...chunks, chunk]
}
