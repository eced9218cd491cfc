import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { compilePolicy, type NodePiece, type Policy, PolicyError } from 'sluice/policy'
import { Refusal } from '../http/answer.ts'
import type { Candidate } from './read-policy.ts'
import type { Parsed, ParsingBegins } from './parse-thread.ts'

const THREAD = new URL('parse-thread.js', import.meta.url)
/** MiB and milliseconds; a policy of the largest size needs far less. */
const MAX_HEAP_MB = 512
const MAX_MS = 60_000

/** Thrown if a policy cannot be parsed now for a reason outside the policy. */
export class NotParsed extends Refusal {
  constructor(why: string) {
    super(503, `The policy cannot be read now: ${why}.`)
  }
}

/** A refusal for another reason can end: a named file may appear, or a thread may become free. */
export function isTextAtFault(error: unknown): boolean {
  return error instanceof PolicyError || (error instanceof Refusal && !(error instanceof NotParsed))
}

/**
 * Another thread parses the text, so decisions are not blocked. This thread compiles the result in slices.
 * @throws PolicyError with every mistake, NotParsed if no thread can run
 */
export async function parseElsewhere(source: Candidate): Promise<Policy> {
  const { port1: near, port2: far } = new MessageChannel()
  try {
    const parsed = await answerOf({ ...source, pieces: far })
    if ('issues' in parsed) throw new PolicyError(parsed.issues)
    return await compilePolicy({ ...parsed.portable, pieces: arrived(near) })
  } finally {
    near.close()
  }
}

async function answerOf(begins: ParsingBegins): Promise<Parsed> {
  const bounds = { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB }, execArgv: [] }
  try {
    const thread = new Worker(THREAD, { workerData: begins, transferList: [begins.pieces], ...bounds })
    const late = setTimeout(() => void thread.terminate(), MAX_MS)
    return await new Promise((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', (code) => {
        clearTimeout(late)
        reject(new Error(`its thread ended with ${code}`))
      })
    })
  } catch (error) {
    throw new NotParsed((error as Error).message.replace(/\s+/g, ' '))
  }
}

/** A message listener would deserialize all pieces at once. */
function* arrived(port: MessagePort): Iterable<NodePiece> {
  for (let found = receiveMessageOnPort(port); found !== undefined; found = receiveMessageOnPort(port)) yield found.message as NodePiece
}
