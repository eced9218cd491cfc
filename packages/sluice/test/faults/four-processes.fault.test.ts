import { fourProcesses } from './four-processes.ts'

fourProcesses(10_000)
