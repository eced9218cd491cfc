/** The names of the options of calls: `refuseUnknown` rejects others, because a misspelt cost would charge 1. */
export const WAIT: readonly string[] = ['deadlineMs', 'signal']
export const CHECK: readonly string[] = [...WAIT, 'cost']
export const REFUND: readonly string[] = [...CHECK, 'receipt']
export const REQUEST: readonly string[] = ['key', 'cost']
export const COST: readonly string[] = ['cost']
