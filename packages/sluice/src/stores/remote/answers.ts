import { type Failed, failedBy, StoreFailure } from '../store.ts'

export interface Answered {
  readonly failure?: StoreFailure | undefined
}

export const NONSENSE = 'an answer that makes no sense'

/** Whether this is a list of so many answers. */
export function isAnswer(answers: unknown, size: number): boolean {
  return Array.isArray(answers) && answers.length === size && answers.every((answer) => typeof answer === 'object' && answer !== null)
}

/** The answers to items that have all failed like this. */
export function allFailed(items: readonly unknown[], failure: StoreFailure): readonly Failed[] {
  return items.map(() => ({ failure }))
}

/** Whether it was not executed, because the server was not there or could not serve: moments later it may. */
export function isUnsent({ kind, executed }: StoreFailure): boolean {
  return executed === 'no' && (kind === 'connection' || kind === 'unavailable')
}

/** The answers to the list of one caller, which is one item of a batch; or why none of it was sent. */
export interface Listed<Answer> {
  readonly answers?: readonly (Answer | Failed)[]
  /** Set if all of it failed. */
  readonly failure?: StoreFailure | undefined
}

/** What the caller of a list gets. */
export function answersOf<Answer>({ answers, failure }: Listed<Answer>, items: readonly unknown[]): readonly (Answer | Failed)[] {
  return answers ?? allFailed(items, failure as StoreFailure)
}

/** Calls the store for a list. A call that fails has failed for each item. */
export async function callFor<Answer extends Answered>(
  store: string,
  items: readonly unknown[],
  call: () => Promise<readonly Answer[]>,
): Promise<readonly (Answer | Failed)[]> {
  try {
    const answers = await call()
    if (isAnswer(answers, items.length)) return answers
    throw new StoreFailure('protocol', 'unknown', `${store}: ${NONSENSE}`)
  } catch (error) {
    return allFailed(items, failedBy(error).failure)
  }
}

export function listed<Answer extends Answered>(answers: readonly (Answer | Failed)[]): Listed<Answer> {
  const failures = answers.flatMap(({ failure }) => failure ?? [])
  if (failures.length < answers.length) return { answers }
  // It is sent again only if nothing of it was executed.
  return { answers, failure: failures.find((failure) => !isUnsent(failure)) ?? failures[0] }
}
