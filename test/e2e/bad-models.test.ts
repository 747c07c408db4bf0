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

const CASES: readonly Case[] = [
  [
    'a path that does not exist',
    () => path.join(folder, 'nothing.gguf'),
    /nothing\.gguf.*(does not exist|no such)/i,
  ],
  ['a gguf of nonsense', () => file('bad.gguf', Buffer.alloc(4096, 'GGUF')), /bad\.gguf/],
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
  // Nothing of its headers is wrong: llama.cpp itself refuses it, after the conversion.
  it('ends the start with one sentence', async () => {
    const checkpoint = withConfig('sizes', { hidden_size: 512 })
    const server = spawnServer(['--checkpoint', checkpoint, '--log-level', 'silent'])
    expect(await server.ended).toEqual({ code: 1, signal: null })
    const lines = server.stderr.filter((line) => line.startsWith('sluice: '))
    expect(lines).toEqual([expect.stringMatching(/^sluice: \S/)])
    expect(server.stderr.join('\n')).not.toMatch(/^\s+at /m)
  })

  const server = shared(() => startServer(['--admin-key', ADMIN_KEY, '--kv-cache-type', 'q8_0']))

  async function refusalOf(checkpoint: string): Promise<string> {
    const body = { id: 'm', checkpoint }
    const answer = await call(server(), 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'model_not_loadable'])
    const { detail } = (await answer.json()) as { detail: string }
    return detail
  }

  it.each(CASES)('%s is refused with one sentence', async (_name, make, sentence) => {
    const detail = await refusalOf(make())
    expect(detail).toMatch(/^Model 'm' was not registered: [^\n]+\.$/)
    expect(detail).toMatch(sentence)
  })

  it('names the option when its attention heads do not fit into a KV cache of q8_0', async () => {
    const checkpoint = path.join(folder, 'narrow.gguf')
    writeTinyModel(checkpoint)
    expect(await refusalOf(checkpoint)).toBe(
      "Model 'm' was not registered: kv_cache_type must be f16 for 'm': q8_0 needs attention heads of a multiple of 32 numbers, but they have 16.",
    )
  })
})
