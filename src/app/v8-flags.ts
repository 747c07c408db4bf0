/**
 * How Node runs a process that serves: its heap stays close to what it uses, and its code is compiled early. Of the process that is the
 * program, not of one that embeds a server.
 */
import v8 from 'node:v8'

/**
 * Beyond what lives, until the next collection of the whole heap. By itself V8 lets the old part grow to several times what lived after
 * the last one: half of what 2,000 open streams took was garbage.
 */
const HEAP_GROWTH_PERCENT = 30

/**
 * Bytes of bytecode that a function runs between two looks at whether to optimize it; by itself V8 looks after 67,584. Nearly all code of a
 * request runs once in it, so a new process would serve thousands of requests with code that takes half as long again.
 */
const OPTIMIZING_AFTER_BYTES = 10_000

/** Of Node 20. Later ones count calls, and have a compiler in between that needs few. */
const HAS_BUDGET = process.versions.v8.startsWith('11.')

/** Call before the code of the server is loaded. */
export function keepHeapSmall(): void {
  v8.setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
}

/** Call when the server listens: to optimize code that only a start runs took a quarter of its CPU. */
export function optimizeEarly(): void {
  if (HAS_BUDGET) v8.setFlagsFromString(`--interrupt-budget=${OPTIMIZING_AFTER_BYTES}`)
}

/** Memory, profiles and reports, which are meant for all processes of a service. */
const INHERITED = /^--(max-|stack-|cpu-prof|heap-prof|heapsnapshot-|report-|trace-|no-warnings)/

/**
 * Of Node's own options of this process those that a worker takes over. What an application is started with besides (`--import`,
 * `--eval`, `--inspect`, `--test`) would run its code, or take its port, in every worker.
 */
export function inheritedFlags(execArgv: readonly string[]): string[] {
  let isKept = false
  return execArgv.filter((word) => {
    // A value may stand after its option as a word of its own.
    if (word.startsWith('-')) isKept = INHERITED.test(word)
    return isKept
  })
}
