import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'

/** Largest file that is read, in bytes. */
const LARGEST = 1_048_576

export interface ReadOptions {
  /** Also reads a pipe, such as `/dev/stdin`, to its end, and waits for it. For commands that end, never in a service. */
  readonly pipes?: boolean
}

/**
 * Reads a regular file of at most 1 MiB without waiting: a FIFO would block the process, and a device never ends.
 * @throws Error that says what the file is and what is allowed, or the system's reason
 */
export function readRegular(file: string, { pipes = false }: ReadOptions = {}): Buffer {
  const descriptor = openSync(file, pipes ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile() && !(pipes && found.isFIFO())) throw new Error(`it is ${kindOf(found)}; expected ${ALLOWED}`)
    return contentsOf(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const ALLOWED = `a regular file of at most ${LARGEST} bytes`

/** Reads to the end without asking for the size: system files report none, and other files may grow meanwhile. */
function contentsOf(descriptor: number): Buffer {
  const parts: Buffer[] = []
  let size = 0
  for (;;) {
    const part = Buffer.allocUnsafe(65_536)
    const length = readSync(descriptor, part)
    if (length === 0) return Buffer.concat(parts, size)
    size += length
    if (size > LARGEST) throw new Error(`it is larger than ${LARGEST} bytes; expected ${ALLOWED}`)
    parts.push(part.subarray(0, length))
  }
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  return found.isCharacterDevice() || found.isBlockDevice() ? 'a device' : 'no file'
}
