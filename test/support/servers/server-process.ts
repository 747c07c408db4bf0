/** The built program as a stranger starts it: a process, a real port, requests over HTTP. */
import { spawn, execFileSync, type ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { inject } from 'vitest'
import { until } from '../until.ts'
import { whenUnused } from '../shared.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')
/** A trained model of 4 million parameters in the Hugging Face layout. */
export const SMALL_LLAMA = path.join(ROOT, 'test/data/small-llama')
export const KEY = 'test-key-0123456789'

interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

export interface ServerProcess {
  readonly child: ChildProcess
  readonly stdout: readonly string[]
  /** The log: one JSON object a line, or a sentence of the command line. */
  readonly stderr: readonly string[]
  readonly ended: Promise<Ended>
}

export interface RunningServerProcess extends ServerProcess {
  readonly address: string
}

export interface SpawnOptions {
  /** What a file may grow to, in blocks of 512 bytes: writing more fails as on a full disk. */
  readonly maxFileBlocks?: number
  readonly maxOpenFiles?: number
  /** A data folder whose models it finds in its own. */
  readonly modelsOf?: string
  /** A file descriptor in place of the pipe whose lines are collected. */
  readonly stderr?: number
}

/**
 * Most servers of a test live for a second or two, of which a quarter went to optimizing code that runs once and to copying
 * objects in a young generation that is still small.
 */
const SHORT_LIVED = ['--no-opt', '--min-semi-space-size=64', '--max-semi-space-size=64']

/** Starts the program with `words`; its data folder, and itself, go with the test. */
export function spawnServer(words: readonly string[], options: SpawnOptions = {}): ServerProcess {
  const { maxFileBlocks, maxOpenFiles, modelsOf, stderr: errorOutput = 'pipe' } = options
  const dataDir = temporaryFolder()
  if (modelsOf !== undefined) cpSync(modelsOf, dataDir, { recursive: true })
  const program = [process.execPath, ...SHORT_LIVED, path.join(ROOT, 'bin/sluice.js'), 'serve', '--port', '0']
  const limits = [
    ...(maxFileBlocks === undefined ? [] : [`ulimit -f ${maxFileBlocks}; `]),
    ...(maxOpenFiles === undefined ? [] : [`ulimit -n ${maxOpenFiles}; `]),
  ]
  const [command = '', ...rest] = [
    ...(limits.length === 0 ? [] : ['sh', '-c', `${limits.join('')}exec "$@"`, 'sh']),
    ...[...program, '--data-dir', dataDir, ...words],
  ]
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', errorOutput] })
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  whenUnused(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const { stdout, stderr } = child
  if (stdout === null) throw new Error('the pipe is missing')
  return { child, stdout: collectLines(stdout), stderr: stderr === null ? [] : collectLines(stderr), ended }
}

/** A folder that goes with the test, after the servers that were started in it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function collectLines(stream: NodeJS.ReadableStream): string[] {
  const lines: string[] = []
  createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return lines
}

/** Starts the program and waits until it listens. */
export async function startServer(
  words: readonly string[],
  options?: SpawnOptions,
): Promise<RunningServerProcess> {
  return listening(spawnServer(['--api-keys', KEY, ...words], options))
}

/** Waits until the program listens. */
export async function listening(server: ServerProcess): Promise<RunningServerProcess> {
  return { ...server, address: await printed(server, /listening on (\S+)/) }
}

/** Waits until the program prints the pattern; resolves with its first group. */
export async function printed(server: ServerProcess, pattern: RegExp): Promise<string> {
  return lineOf(server, () => pattern.exec(server.stdout.join('\n'))?.[1] ?? null)
}

/**
 * Starts the program with the small Llama, converted before, and waits until it serves. One compute thread: two of them wait for each
 * other at every operation, which on a busy machine takes longer than the work.
 */
export async function startDemoServer(words: readonly string[] = []): Promise<RunningServerProcess> {
  const model = ['--checkpoint', SMALL_LLAMA, '--threads', '1']
  const server = await startServer([...model, ...words], { modelsOf: inject('convertedSmallLlama') })
  await logged(server, 'serving')
  return server
}

/** Waits for a line of the log with this message; resolves with its fields. */
export async function logged(
  server: ServerProcess,
  message: string,
  isRight: (fields: Record<string, unknown>) => boolean = () => true,
): Promise<Record<string, unknown>> {
  return lineOf(server, () => {
    for (const line of server.stderr) {
      if (!line.startsWith('{')) continue
      const fields = JSON.parse(line) as Record<string, unknown>
      if (fields['msg'] === message && isRight(fields)) return fields
    }
    return null
  })
}

/** Resolves as soon as `find` finds something in the output; rejects when the program ends without it. */
async function lineOf<T>({ child, stdout, stderr }: ServerProcess, find: () => T | null): Promise<T> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const found = find()
      if (found === null) return
      stop()
      resolve(found)
    }
    const onClose = (): void => {
      stop()
      reject(new Error(`the server ended:\n${[...stdout, ...stderr].join('\n')}`))
    }
    // Lines are collected by listeners that were added before these.
    const onData = (): void => void setImmediate(look)
    const stop = (): void => {
      child.stdout?.off('data', onData)
      child.stderr?.off('data', onData)
      child.off('close', onClose)
    }
    child.stdout?.on('data', onData)
    child.stderr?.on('data', onData)
    child.once('close', onClose)
    look()
  })
}

export function post(
  { address }: RunningServerProcess,
  route: string,
  options: { readonly body: unknown; readonly signal?: AbortSignal },
): Promise<Response> {
  return fetch(address + route, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(options.body),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
}

export interface CallOptions {
  /** @default none */
  readonly secret?: string
  readonly body?: unknown
  /** The client's address, for a server that trusts 127.0.0.1 as a proxy. */
  readonly forwardedFor?: string
}

/** `route` is a method and a path: `GET /v1/keys`. */
export function call(
  { address }: RunningServerProcess,
  route: string,
  { secret, body, forwardedFor }: CallOptions = {},
): Promise<Response> {
  const [method = '', path = ''] = route.split(' ')
  return fetch(address + path, {
    method,
    headers: {
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

export interface StreamChunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string }
    readonly finish_reason: string | null
  }[]
  readonly usage?: { readonly completion_tokens: number }
  readonly error?: { readonly message: string; readonly code: string }
}

/** The data of each server-sent event, read by a real parser, `[DONE]` left out. */
export async function* streamChunks(response: Response): AsyncGenerator<StreamChunk, void, void> {
  if (response.body === null) throw new Error('the answer has no body')
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) {
    if (data === '[DONE]') return
    yield JSON.parse(data) as StreamChunk
  }
  throw new Error('the stream ended without [DONE]')
}

export interface StreamedText {
  readonly text: string
  readonly finishReason: string | null
  readonly error: StreamChunk['error'] | null
}

/** Reads a stream to its end. */
export async function readStream(response: Response): Promise<StreamedText> {
  let text = ''
  let finishReason: string | null = null
  for await (const chunk of streamChunks(response)) {
    if (chunk.error !== undefined) return { text, finishReason, error: chunk.error }
    text += chunk.choices[0]?.delta.content ?? ''
    finishReason = chunk.choices[0]?.finish_reason ?? finishReason
  }
  return { text, finishReason, error: null }
}

/** Process ids of the engines that a server has started. */
export const enginePids = (server: Pick<ServerProcess, 'child'>): number[] => childPids(server, 'engine-main')

/** Process ids of what a server has started. @param program what its command line names */
export function childPids({ child }: Pick<ServerProcess, 'child'>, program: string): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return listed
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((row) => row !== null && Number(row[2]) === child.pid && (row[3] ?? '').includes(program))
    .map((row) => Number(row?.[1]))
}

/** Waits until a process is gone. */
export async function gone(pid: number): Promise<void> {
  await until(`process ${pid} is gone`, () => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  })
}
