export { withDeadline } from './deadline.ts'
export { type FallbackOptions, withFallback } from './fallback.ts'
