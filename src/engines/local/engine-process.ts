/**
 * Starts one engine process and waits until it serves. Knows the process: its arguments, its pipes, its socket, its
 * last words. Does not restart it and knows nothing of requests; the engine host does that.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { StartError } from '../../core/errors.ts'
import type { ModelInfo } from '../../protocol/engine.ts'
import type { LoadProgress } from '../../protocol/runner-options.ts'
import type { EngineProcessOptions, LoadMessage } from './messages.ts'

export type EngineStartOptions = Omit<EngineProcessOptions, 'socketPath' | 'parentPid'>

export interface EngineProcessHooks {
  readonly onProgress: LoadProgress
  /** One line of the engine's standard error, where llama.cpp logs. */
  readonly onLogLine: (line: string) => void
}

export interface EngineProcess {
  readonly pid: number
  readonly info: ModelInfo
  readonly socket: Socket
  /** Resolves with one clause on how it ended. */
  readonly exited: Promise<string>
  /** Ends the process now; running requests are lost. */
  kill(): void
}

const ENTRY = fileURLToPath(new URL('engine-main.js', import.meta.url))

/** @throws StartError with one sentence when the model cannot be opened or the process dies of it. */
export async function startEngineProcess(
  options: EngineStartOptions,
  hooks: EngineProcessHooks,
): Promise<EngineProcess> {
  // Only this user may enter the folder, so only this user can reach the engine.
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-'))
  const socketPath = path.join(folder, 'engine.sock')
  const argument: EngineProcessOptions = { ...options, socketPath, parentPid: process.pid }
  const child = spawn(process.execPath, [ENTRY, JSON.stringify(argument)], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => {})
  const lastWords = followLog(child.stderr as Readable, hooks.onLogLine)
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('close', (code, signal) => resolve(describeEnd(code, signal)))
  })
  try {
    const followed = { onProgress: hooks.onProgress, lastWords: () => lastWords.join(' ') }
    const info = await untilReady(child, followed, exited)
    const socket = await connect(socketPath)
    return { pid: child.pid ?? 0, info, socket, exited, kill: () => child.kill('SIGKILL') }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    // Once connected the name is not needed, so that nothing is left behind however the server ends.
    await rm(folder, { recursive: true, force: true })
  }
}

/** Forwards each line and keeps the last few, which say why a native abort happened. */
function followLog(stderr: Readable, onLogLine: (line: string) => void): readonly string[] {
  const lastLines: string[] = []
  createInterface({ input: stderr }).on('line', (line) => {
    onLogLine(line)
    lastLines.push(line)
    if (lastLines.length > 3) lastLines.shift()
  })
  return lastLines
}

function describeEnd(code: number | null, signal: string | null): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
}

/** Follows the load messages; rejects when the model cannot be opened or the process ends first. */
async function untilReady(
  child: ChildProcess,
  hooks: { readonly onProgress: LoadProgress; readonly lastWords: () => string },
  exited: Promise<string>,
): Promise<ModelInfo> {
  const hostPipe = child.stdio[3] as Readable
  const told = new Promise<ModelInfo>((resolve, reject) => {
    createInterface({ input: hostPipe }).on('line', (line) => {
      const message = JSON.parse(line) as LoadMessage
      switch (message.type) {
        case 'progress':
          return hooks.onProgress(message.fraction)
        case 'ready':
          return resolve(message.info)
        case 'failed':
          return reject(new StartError(message.message, 1))
      }
    })
  })
  const ended = exited.then((how): never => {
    const words = hooks.lastWords()
    throw new StartError(`The engine process ${how} while it loaded the model${words && `: ${words}`}`, 1)
  })
  return Promise.race([told, ended])
}

function connect(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath)
    socket.once('connect', () => resolve(socket)).once('error', reject)
  })
}
