/** TypeScript's language server, as an editor runs it: JSON-RPC over the standard streams of a process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const TSC = path.resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

export interface LanguageServer extends AsyncDisposable {
  open(file: string, text: string): void
  /** What is shown where the pointer rests; empty where nothing is. */
  hover(file: string, position: { readonly line: number; readonly character: number }): Promise<string>
}

interface Message {
  readonly id?: number | string | null
  readonly method?: string
  readonly result?: { readonly contents?: { readonly value?: string } } | null
  readonly error?: { readonly message: string }
}

/** @param folder whose packages the files import */
export async function startLanguageServer(folder: string): Promise<LanguageServer> {
  const server = spawn(process.execPath, [TSC, '--lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const exited = once(server, 'exit')
  const waiting = new Map<number, (answer: Message) => void>()
  let lastId = 0

  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  const request = async (method: string, params: object): Promise<Message> => {
    const id = ++lastId
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    const answer = await answered
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer
  }
  const receive = ({ id, method, ...answer }: Message): void => {
    if (method === undefined) waiting.get(Number(id))?.(answer)
    // The server's own questions, such as for the editor's settings.
    else if (id !== undefined) send({ id, result: null })
  }
  server.stdout.on('data', readMessages(receive))

  await request('initialize', { processId: null, rootUri: pathToFileURL(folder).href, capabilities: {} })
  send({ method: 'initialized', params: {} })
  const uriOf = (file: string): string => pathToFileURL(path.join(folder, file)).href
  return {
    open: (file, text) => {
      const textDocument = { uri: uriOf(file), languageId: 'typescript', version: 1, text }
      send({ method: 'textDocument/didOpen', params: { textDocument } })
    },
    hover: async (file, position) => {
      const params = { textDocument: { uri: uriOf(file) }, position }
      return (await request('textDocument/hover', params)).result?.contents?.value ?? ''
    },
    [Symbol.asyncDispose]: async () => {
      server.kill()
      await exited
    },
  }
}

/** Cuts the stream into its messages, each after a head with its length in bytes. */
function readMessages(receive: (message: Message) => void): (chunk: Buffer) => void {
  let buffered = Buffer.alloc(0)
  return (chunk) => {
    buffered = Buffer.concat([buffered, chunk])
    for (;;) {
      const headBytes = buffered.indexOf('\r\n\r\n') + 4
      const length = Number(/content-length: (\d+)/i.exec(buffered.toString('latin1', 0, headBytes))?.[1])
      if (headBytes < 4 || buffered.length < headBytes + length) return
      const body = buffered.toString('utf8', headBytes, headBytes + length)
      buffered = buffered.subarray(headBytes + length)
      receive(JSON.parse(body) as Message)
    }
  }
}
