import { areOfOneKey, type Waits } from './beside.ts'

/** So many callers who are answered together while nobody waits go in step. */
const IN_STEP = 32
/** Milliseconds that a caller needs, about, to hear an answer and ask again. */
const THINKING_MS = 0.002

/**
 * Whether callers who were answered together, while nobody waits, should be told in two halves. Where all ask one key their calls wait for each other: it pays
 * only if a call takes no longer than its callers need to ask again.
 */
export function areInStep(callers: readonly Waits[], tookMs: number): boolean {
  return callers.length >= IN_STEP && (!areOfOneKey(callers) || tookMs < callers.length * THINKING_MS)
}

/** A caller of a joint call. */
interface Asked {
  readonly items: readonly unknown[]
  give(answers: unknown): void
}

/** Turns of the microtask queue that a caller needs to hear an answer and ask again. */
const TURNS = 24

/** To each caller as many answers as it had items. */
export function handOut(callers: readonly Asked[], answers: readonly unknown[]): void {
  giveFrom(callers, answers, 0, 0, callers.length)
}

/**
 * The same, one half some turns after the other. Callers who were all answered by one call and ask again at once would travel together ever after,
 * with the server idle while they think and the other way round; those of the first half are under way when the others ask.
 */
export function handOutInTurns(callers: readonly Asked[], answers: readonly unknown[]): void {
  const half = callers.length >> 1
  const next = giveFrom(callers, answers, 0, 0, half)
  let turn = Promise.resolve()
  for (let turns = 1; turns < TURNS; turns += 1) turn = turn.then(() => {})
  void turn.then(() => giveFrom(callers, answers, next, half, callers.length))
}

/** The place of the first answer that is not given. */
function giveFrom(callers: readonly Asked[], answers: readonly unknown[], first: number, from: number, until: number): number {
  let at = first
  for (let index = from; index < until; index += 1) {
    const caller = callers[index] as Asked
    const count = caller.items.length
    caller.give(count === 1 ? [answers[at]] : answers.slice(at, at + count))
    at += count
  }
  return at
}
