/** The program of the thread that `step-watch.ts` starts. */
import { workerData } from 'node:worker_threads'
import { watchOnce } from './watch-words.ts'

const words = workerData as Int32Array
for (;;) watchOnce(words)
