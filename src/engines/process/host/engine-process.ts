/**
 * Starts one engine process and waits until it serves. Knows the process: its arguments, its pipes, its socket, its
 * last words. Does not restart it and knows nothing of requests; the engine host does that.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { StartError } from '../../../core/errors.ts'
import type { ModelInfo } from '../../../protocol/engine.ts'
import type { LoadProgress } from '../../../protocol/runner-options.ts'
import { withHugePages } from './huge-pages.ts'
import type { EngineProcessOptions, LoadMessage } from '../connection/messages.ts'

export interface EngineStartOptions extends Omit<EngineProcessOptions, 'socketPath' | 'parentPid'> {
  /** The program that is started. @default the engine */
  readonly program?: string
  /** Size of the weights: what is read from a slow disk takes long, and llama.cpp is silent while it does. @default 0 */
  readonly weightBytes?: number
  /** Silence after which a start is given up. @default a minute, and more for a large model */
  readonly stallMs?: number
}

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

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the end mark included. */
const MAX_SOCKET_PATH_BYTES = 103

/** A start of which nothing is heard for so long hangs. Its last part is silent: pages of the weights are read. */
const STALL_MS = 60_000
/** A disk of 50 MB/s. */
const STALL_MS_PER_GIGABYTE = 20_000

/**
 * Megabytes of each half of V8's young generation, which by itself grows to 16 and stays. A step leaves so little behind
 * that it is as fast with 2.
 */
const MAX_SEMI_SPACE = '--max-semi-space-size=2'

const ENTRY = fileURLToPath(new URL('../engine-main.js', import.meta.url))

/**
 * Aborting the signal ends a start that is under way.
 * @throws StartError with one sentence when the model cannot be opened or the process dies of it.
 */
export async function startEngineProcess(
  options: EngineStartOptions,
  hooks: EngineProcessHooks,
  signal: AbortSignal,
): Promise<EngineProcess> {
  signal.throwIfAborted()
  // Only this user may enter the folder, so only this user can reach the engine.
  const folder = mkdtempSync(path.join(socketFolder(), 'sluice-'))
  const socketPath = path.join(folder, 'engine.sock')
  const { program = ENTRY, weightBytes = 0, stallMs, ...rest } = options
  const argument: EngineProcessOptions = { ...rest, socketPath, parentPid: process.pid }
  const child = spawn(process.execPath, [MAX_SEMI_SPACE, program, JSON.stringify(argument)], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    env: withHugePages(process.env),
  })
  const kill = (): void => void child.kill('SIGKILL')
  const exited = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}`))
    child.on('close', (code, endSignal) => resolve(describeEnd(code, endSignal)))
  })
  signal.addEventListener('abort', kill, { once: true })
  const stall = new StallTimer(stallMs ?? STALL_MS + STALL_MS_PER_GIGABYTE * (weightBytes / 1e9))
  try {
    const info = await Promise.race([untilReady(child, hooks, { exited, stall }), stall.expired])
    const socket = await connect(socketPath)
    return { pid: child.pid ?? 0, info, socket, exited, kill }
  } catch (error) {
    kill()
    throw error
  } finally {
    stall.stop()
    signal.removeEventListener('abort', kill)
    // Once connected the name is not needed, so that nothing is left behind however the server ends. Not awaited: the
    // caller must hear of the socket's end, whenever that comes.
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The temporary folder, unless its name is too long for a socket's. */
function socketFolder(): string {
  const longest = path.join(tmpdir(), 'sluice-XXXXXX', 'engine.sock')
  return Buffer.byteLength(longest) <= MAX_SOCKET_PATH_BYTES ? tmpdir() : '/tmp'
}

/** Forwards each line and keeps the last few, which say why a native abort happened. */
function followLog(stderr: Readable | null, onLogLine: (line: string) => void): readonly string[] {
  const lastLines: string[] = []
  if (stderr === null) return lastLines
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

/** Runs out when it is not wound up in time. */
class StallTimer {
  /** Rejects when it runs out. */
  readonly expired: Promise<never>
  #timer: NodeJS.Timeout | null = null

  constructor(ms: number) {
    this.expired = new Promise((_, reject) => {
      const message = `The engine process said nothing for ${Math.ceil(ms / 1000)} s while it loaded the model, and was ended.`
      this.#timer = setTimeout(() => reject(new StartError(message, 1)), ms)
    })
    // Whoever has stopped waiting need not hear of it.
    this.expired.catch(() => {})
  }

  windUp(): void {
    this.#timer?.refresh()
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

interface StartWatch {
  readonly exited: Promise<string>
  readonly stall: StallTimer
}

/** Follows the load messages; rejects when the model cannot be opened or the process ends first. */
async function untilReady(
  child: ChildProcess,
  { onProgress, onLogLine }: EngineProcessHooks,
  { exited, stall }: StartWatch,
): Promise<ModelInfo> {
  // The pipes are missing when the process could not be started at all.
  child.stdin?.on('error', () => {})
  const lastWords = followLog(child.stderr ?? null, (line) => {
    stall.windUp()
    onLogLine(line)
  })
  const ended = exited.then((how): never => {
    const words = lastWords.length === 0 ? '' : `: ${lastWords.join(' ')}`
    throw new StartError(`The engine process ${how} while it loaded the model${words}`, 1)
  })
  const hostPipe = child.stdio?.[3]
  if (!(hostPipe instanceof Readable)) return ended
  const told = new Promise<ModelInfo>((resolve, reject) => {
    createInterface({ input: hostPipe }).on('line', (line) => {
      stall.windUp()
      const message = parseLoadMessage(line)
      if (message === null) return
      switch (message.type) {
        case 'progress':
          return onProgress(message.fraction)
        case 'ready':
          return resolve(message.info)
        case 'failed':
          return reject(new StartError(message.message, 1))
      }
    })
  })
  return Promise.race([told, ended])
}

/** Null for what is none: a process that dies may do so in the middle of a message. */
function parseLoadMessage(line: string): LoadMessage | null {
  try {
    return JSON.parse(line) as LoadMessage
  } catch {
    return null
  }
}

function connect(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath)
    const onError = (): void =>
      reject(new StartError('The engine process ended before it could be reached.', 1))
    socket.once('connect', () => resolve(socket)).once('error', onError)
  })
}
