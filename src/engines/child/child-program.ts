/**
 * Runs one of our own programs in a child process: a native abort ends that process and no other. The child gets its options
 * as its only argument, reports on a pipe of its own, one JSON line each, and ends when its standard input closes
 * (`parent-link.ts` is its side of this). It does not restart the program.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { requireOwnFile } from '../../core/own-file.ts'

export interface ChildProgram {
  /** The file to run. */
  readonly entry: string
  /** Plain data; the parent's id is added. */
  readonly options: object
  /** Options of Node itself. */
  readonly flags?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export interface ChildHooks<Message> {
  readonly onMessage: (message: Message) => void
  /** One line of its standard error, where llama.cpp logs. */
  readonly onLogLine: (line: string) => void
}

/** How a child ended, in one clause. */
export interface ChildExit {
  readonly how: string
  /** The signal that ended it. */
  readonly signal: string | null
}

export interface Child {
  readonly pid: number
  readonly exited: Promise<ChildExit>
  /** Lets it finish what it does at its end. */
  end(): void
  /** Ends it now, whatever it is doing. */
  kill(): void
}

/** @throws StartError where the program is missing */
export function startChild<Message>(program: ChildProgram, hooks: ChildHooks<Message>): Child {
  const { entry, options, flags = [], env = process.env } = program
  requireOwnFile(entry)
  const argument = JSON.stringify({ ...options, parentPid: process.pid })
  const child = spawn(process.execPath, [...flags, entry, argument], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    env,
  })
  const exited = new Promise<ChildExit>((resolve) => {
    child.on('error', ({ message }) => resolve({ how: `could not be started: ${message}`, signal: null }))
    child.on('close', (code, signal) =>
      resolve({ how: signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`, signal }),
    )
  })
  // The pipes are missing when the process could not be started at all.
  child.stdin?.on('error', () => {})
  followLines(child.stderr, hooks.onLogLine)
  followLines(child.stdio?.[3], (line) => {
    const message = parseJson(line)
    if (message !== null) hooks.onMessage(message as Message)
  })
  const end = (): void => void child.stdin?.end()
  return { pid: child.pid ?? 0, exited, end, kill: () => void child.kill('SIGKILL') }
}

function followLines(stream: unknown, onLine: (line: string) => void): void {
  if (stream instanceof Readable) createInterface({ input: stream }).on('line', onLine)
}

/** Null for a line that is no JSON: a process that dies may do so in the middle of a message. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
