export { createGate, type Decider, type EngineAnswer, type Gate, type GateAnswer, type GateOptions } from './gate.ts'
export { type HeaderList, type HeaderOptions, headersOf } from './headers.ts'
export { type HeaderSink, mergeHeaders } from './merge.ts'
export { type Problem, PROBLEM_TYPE, problemOf } from './problem.ts'
