export { type CoalescingOptions, withCoalescing } from './coalescing.ts'
export { withDeadline } from './deadline.ts'
export { type FallbackOptions, withFallback } from './fallback.ts'
export { withObservers } from './observed.ts'
