/** A child process's link to the parent that started it (`child-program.ts`): it reports to it and ends with it. */
import { writeSync } from 'node:fs'
import { dieWithParent } from './die-with-parent.ts'

const PARENT_PIPE = 3

/** Call first thing: from here on the process ends with its parent, and only its parent ends it. */
export function linkToParent(parentPid: number): void {
  // Ctrl-C, and the end of a terminal, reach the whole process group.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  dieWithParent(parentPid)
  process.stdin.on('close', () => process.exit(0)).resume()
}

/** Written at once, because native work may block the event loop next. */
export function tellParent(message: object): void {
  writeSync(PARENT_PIPE, `${JSON.stringify(message)}\n`)
}
