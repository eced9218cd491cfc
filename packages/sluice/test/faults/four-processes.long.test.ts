import { fourProcesses } from './four-processes.ts'

fourProcesses(500)
