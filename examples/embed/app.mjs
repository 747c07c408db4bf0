// @ts-check
/**
 * A small application with a model in it: a page that asks for a continuation, notes of its own, and keys that a full
 * server manages. `README.md` beside it says how to start it.
 *
 *   PORT=8081 KEY_DB=api.db CHECKPOINT=path/to/model.gguf node examples/embed/app.mjs
 */
import { fileURLToPath } from 'node:url'
import { createLightServer, DEFAULT_PUBLIC_PATHS, ServiceError } from 'sluice/light'

const { PORT = '8081', KEY_DB, CHECKPOINT } = process.env

const server = createLightServer({
  port: Number(PORT),
  workers: 2,
  keyDb: KEY_DB,
  checkpoint: CHECKPOINT,
  staticDir: fileURLToPath(new URL('public', import.meta.url)),
  publicPaths: [...DEFAULT_PUBLIC_PATHS, '/note-ids'],
})

/** @type {Map<string, string>} */
const notes = new Map([['1', 'Notes are kept until the application ends.']])

// Public: everyone may know which notes there are.
server.route('GET', '/note-ids', () => [...notes.keys()])

// Not public: these two ask for a key, as generating does.
server.route('GET', '/notes/{id}', ({ params }) => {
  const text = notes.get(params.id)
  if (text === undefined)
    throw new ServiceError('invalid_request', { message: `There is no note ${params.id}.` })
  return { id: params.id, text }
})
server.route('POST', '/notes', ({ body, credential }) => {
  const text = typeof body === 'object' && body !== null && 'text' in body ? body.text : undefined
  if (typeof text !== 'string')
    throw new ServiceError('invalid_request', { message: 'text must be a string.' })
  const id = String(notes.size + 1)
  notes.set(id, text)
  return { id, writtenBy: credential?.accountId ?? null }
})

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void server.close())

try {
  const { url } = await server.listen()
  process.stdout.write(`listening on ${url}\n`)
  await server.loaded
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
  await server.close()
}
