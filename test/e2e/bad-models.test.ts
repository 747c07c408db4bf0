/** Checkpoints that cannot be served: one clear sentence and exit code 1, never a stack trace. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'
import { call, SMALL_LLAMA, spawnServer, startServer } from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'

const ADMIN_KEY = 'admin-key-of-this-test'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A copy of the small Llama with something wrong. */
function spoiled(name: string, spoil: (copy: string) => void): string {
  const copy = path.join(folder, name)
  cpSync(SMALL_LLAMA, copy, { recursive: true })
  spoil(copy)
  return copy
}

function file(name: string, content: string | Buffer): string {
  const made = path.join(folder, name)
  writeFileSync(made, content)
  return made
}

function withConfig(name: string, change: Record<string, unknown>): string {
  return spoiled(name, (copy) => {
    const config = JSON.parse(readFileSync(path.join(copy, 'config.json'), 'utf8')) as object
    writeFileSync(path.join(copy, 'config.json'), JSON.stringify({ ...config, ...change }))
  })
}

type Case = readonly [what: string, make: () => string, sentence: RegExp]

/** Found at the path, in the file that llama.cpp reads, and by llama.cpp itself. */
const AT_THE_START: readonly Case[] = [
  [
    'a path that does not exist',
    () => path.join(folder, 'nothing.gguf'),
    /nothing\.gguf.*(does not exist|no such)/i,
  ],
  ['a gguf of nonsense', () => file('bad.gguf', Buffer.alloc(4096, 'GGUF')), /bad\.gguf/],
  ['sizes that do not fit the weights', () => withConfig('sizes', { hidden_size: 512 }), /\S/],
]

const WHILE_SERVING: readonly Case[] = [
  ['a file that is no model', () => file('notes.txt', 'hello'), /notes\.txt.*no model/],
  ['an empty folder', () => mkdtempSync(path.join(folder, 'empty-')), /without a \.safetensors or \.gguf/],
  [
    'a gguf that is cut short',
    () => file('cut.gguf', Buffer.from('GGUF\u0003\u0000\u0000\u0000')),
    /cut\.gguf/,
  ],
  [
    'safetensors that are cut short',
    () => spoiled('cut', (copy) => truncateSync(path.join(copy, 'model.safetensors'), 1_000_000)),
    /model\.safetensors/,
  ],
  [
    'an architecture nobody knows',
    () => withConfig('strange', { architectures: ['StrangeForCausalLM'] }),
    /StrangeForCausalLM.*LlamaForCausalLM/,
  ],
  [
    // Opening one waits for somebody to write.
    'a pipe in place of a file',
    () => {
      const pipe = path.join(folder, 'pipe.gguf')
      execFileSync('mkfifo', [pipe])
      return pipe
    },
    /pipe\.gguf is not a file/,
  ],
  [
    'a checkpoint without its tokenizer',
    () => spoiled('mute', (copy) => rmSync(path.join(copy, 'tokenizer.json'))),
    /tokenizer\.json does not exist/,
  ],
]

describe('a checkpoint that cannot be served', () => {
  it.each(AT_THE_START)('%s ends the start with one sentence', async (_name, make, sentence) => {
    const server = spawnServer(['--checkpoint', make(), '--log-level', 'silent'])
    expect(await server.ended).toEqual({ code: 1, signal: null })
    const lines = server.stderr.filter((line) => line.startsWith('sluice: '))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(sentence)
    expect(server.stderr.join('\n')).not.toMatch(/^\s+at /m)
  })

  const server = shared(() => startServer(['--admin-key', ADMIN_KEY]))

  it.each(WHILE_SERVING)('%s is refused with one sentence', async (_name, make, sentence) => {
    const body = { id: 'm', checkpoint: make() }
    const answer = await call(server(), 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'model_not_loadable'])
    const { detail } = (await answer.json()) as { detail: string }
    expect(detail).toMatch(/^Model 'm' was not registered: [^\n]+\.$/)
    expect(detail).toMatch(sentence)
  })

  it('names the option when its attention heads do not fit into a KV cache of q8_0', async () => {
    const checkpoint = path.join(folder, 'narrow.gguf')
    writeTinyModel(checkpoint)
    const server = spawnServer([
      ...['--checkpoint', checkpoint, '--log-level', 'silent', '--kv-cache-type', 'q8_0'],
    ])
    expect(await server.ended).toEqual({ code: 1, signal: null })
    const lines = server.stderr.filter((line) => line.startsWith('sluice: '))
    expect(lines).toEqual([
      "sluice: kv_cache_type must be f16 for 'narrow': q8_0 needs attention heads of a multiple of 32 numbers, but they have 16.",
    ])
  })

  it('says which memory is missing when the context does not fit', async () => {
    const server = spawnServer([
      ...['--checkpoint', SMALL_LLAMA, '--log-level', 'silent'],
      ...['--max-batch-size', '256', '--max-seq-len', '1048576', '--kv-cache-tokens', '268435456'],
    ])
    expect(await server.ended).toEqual({ code: 1, signal: null })
    expect(server.stderr.join('\n')).toMatch(/memory/)
  })
})
