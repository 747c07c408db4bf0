/** A draft model served by the built program: named where the model is, counted, without a change of a text, and refused in one sentence. */
import { describe, expect, it } from 'vitest'
import {
  call,
  SMALL_LLAMA,
  listening,
  logged,
  spawnServer,
  type RunningServerProcess,
} from '../../support/servers/server-process.ts'
import { until } from '../../support/until.ts'

const ADMIN_KEY = 'admin-key-of-this-test'
/** In each of their first tokens the model is far from a second choice, which the rounding of another batch could not bring about. */
const PROMPTS = ['The king said', 'In the garden', 'The dog ran']
const WORDS = ['--auth-mode', 'none', '--admin-key', ADMIN_KEY, '--threads', '1', '--gpu', 'off']
const SIZES = ['--max-seq-len', '256', '--max-batch-size', '4']

async function textOf(server: RunningServerProcess, model: string, prompt: string): Promise<string> {
  const body = { model, prompt, max_tokens: 60, temperature: 0 }
  const answer = await (await call(server, 'POST /v1/completions', { body })).json()
  return (answer as { choices: { text: string }[] }).choices[0]?.text ?? ''
}

const textsOf = (server: RunningServerProcess, model: string) =>
  Promise.all(PROMPTS.map((prompt) => textOf(server, model, prompt)))

async function register(server: RunningServerProcess, body: object) {
  const response = await call(server, 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
  return { status: response.status, body: (await response.json()) as { detail?: string } }
}

async function guessesOf(server: RunningServerProcess, model: string): Promise<number> {
  const metrics = await (await call(server, 'GET /metrics', { secret: ADMIN_KEY })).text()
  return Number(
    new RegExp(`^sluice_draft_tokens_total\\{model="${model}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
  )
}

describe('a draft model', () => {
  it('is named with the model, guesses for it, and changes no text', async () => {
    const model = ['--checkpoint', SMALL_LLAMA, '--model-id', 'm', '--draft-checkpoint', SMALL_LLAMA]
    const server = await listening(spawnServer([...WORDS, ...SIZES, ...model]))
    expect(await logged(server, 'serving')).toMatchObject({ model: 'm', draft: 'small-llama' })
    const meta = await (await call(server, 'GET /v1/models/m')).json()
    expect(meta).toMatchObject({ meta: { draft: { name: 'small-llama', parameters: expect.any(Number) } } })

    const plain = { id: 'plain', checkpoint: SMALL_LLAMA }
    expect((await register(server, plain)).status).toBe(200)
    const expected = await textsOf(server, 'plain')
    await until('the draft model has guessed', async () => {
      expect(await textsOf(server, 'm')).toEqual(expected)
      return (await guessesOf(server, 'm')) > 0
    })
    expect(await guessesOf(server, 'plain')).toBe(0)

    const missing = await register(server, { ...plain, draft_checkpoint: '/nowhere.gguf' })
    expect(missing).toMatchObject({ status: 400, body: { detail: expect.stringContaining('/nowhere.gguf') } })
    expect(await textsOf(server, 'plain')).toEqual(expected)
  })

  it('is refused while speculation is off', async () => {
    const server = await listening(spawnServer([...WORDS, '--speculation', 'off']))
    const body = { id: 'm', checkpoint: SMALL_LLAMA, draft_checkpoint: SMALL_LLAMA }
    expect((await register(server, body)).body.detail).toBe(
      "Model 'm' was not registered: 'm' has a draft checkpoint, but speculation is off.",
    )
  })
})
