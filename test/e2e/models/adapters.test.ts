/** LoRA adapters served by the built program: beside their base model, added and removed while it runs, and after its engine has died. */
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeMergedCheckpoint, writePeftAdapter } from '../../support/checkpoints/peft-adapter.ts'
import {
  call,
  SMALL_LLAMA,
  enginePids,
  listening,
  logged,
  spawnServer,
  temporaryFolder,
  type RunningServerProcess,
} from '../../support/servers/server-process.ts'
import { until } from '../../support/until.ts'

const ADMIN_KEY = 'admin-key-of-this-test'

async function textOf(server: RunningServerProcess, model: string): Promise<unknown> {
  const body = { model, prompt: 'The king said', max_tokens: 24, temperature: 0 }
  const answer = await (await call(server, 'POST /v1/completions', { body })).json()
  const { choices, ...rest } = answer as { choices?: { text: string }[] }
  return choices?.[0]?.text ?? rest
}

async function admin(server: RunningServerProcess, endpoint: string, body?: object) {
  const response = await call(server, endpoint, { secret: ADMIN_KEY, ...(body && { body }) })
  const answer: unknown = await response.json()
  return { status: response.status, body: answer }
}

const register = (server: RunningServerProcess, body: object) => admin(server, 'POST /v1/admin/models', body)
const unregister = (server: RunningServerProcess, id: string) =>
  admin(server, `DELETE /v1/admin/models/${id}`)

describe('adapters', () => {
  it('serve under ids of their own what their merged checkpoints say, and come and go', async () => {
    const folder = temporaryFolder()
    const inFolder = (name: string) => path.join(folder, name)
    await writeMergedCheckpoint(inFolder('base'), { base: SMALL_LLAMA })
    for (const seed of [1, 2]) {
      const adapter = { base: SMALL_LLAMA, seed }
      await writePeftAdapter(inFolder(`adapter-${seed}`), adapter)
      await writeMergedCheckpoint(inFolder(`merged-${seed}`), { base: SMALL_LLAMA, adapter })
    }
    const words = [
      '--auth-mode',
      'none',
      '--admin-key',
      ADMIN_KEY,
      '--threads',
      '1',
      '--gpu',
      'off',
      '--max-seq-len',
      '256',
    ]
    const server = await listening(
      spawnServer([
        ...words,
        '--workers',
        '2',
        '--replicas',
        '2',
        '--checkpoint',
        inFolder('base'),
        '--model-id',
        'base',
      ]),
    )
    await logged(server, 'serving')
    const one = { id: 'one', base: 'base', adapter: inFolder('adapter-1') }

    expect(await register(server, one)).toMatchObject({ status: 200, body: { parent: 'base', root: 'base' } })
    expect(
      (await register(server, { id: 'two', base: 'default', adapter: inFolder('adapter-2') })).status,
    ).toBe(200)
    const [base, first, second] = await Promise.all(['base', 'one', 'two'].map((id) => textOf(server, id)))
    expect((await register(server, { id: 'merged', checkpoint: inFolder('merged-1') })).status).toBe(200)
    expect(first).toBe(await textOf(server, 'merged'))
    expect((await register(server, { id: 'merged', checkpoint: inFolder('merged-2') })).status).toBe(200)
    expect(second).toBe(await textOf(server, 'merged'))
    expect(new Set([base, first, second]).size).toBe(3)
    await unregister(server, 'merged')

    // Both replicas die, and their next processes have the adapters.
    await until('both replicas serve', () => enginePids(server).length === 2)
    const pids = enginePids(server)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await until(
      'both have been started again',
      () => enginePids(server).filter((pid) => !pids.includes(pid)).length === 2,
    )
    expect(await Promise.all(['base', 'one', 'two'].map((id) => textOf(server, id)))).toEqual([
      base,
      first,
      second,
    ])

    expect(await unregister(server, 'base')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("unregister 'one', 'two' first") },
    })
    expect((await register(server, { id: 'base', checkpoint: inFolder('merged-2') })).status).toBe(200)
    expect(await textOf(server, 'base')).toBe(second)
    expect(await textOf(server, 'one')).not.toBe(first)
    expect(
      (await register(server, { id: 'none', base: 'one', adapter: inFolder('adapter-2') })).body,
    ).toMatchObject({
      detail: expect.stringContaining("Its base model 'one' is itself an adapter"),
    })
    expect((await unregister(server, 'one')).status).toBe(200)
    expect(await textOf(server, 'one')).toMatchObject({ error: { code: 'model_not_found' } })
    expect((await unregister(server, 'two')).status).toBe(200)
    expect((await unregister(server, 'base')).status).toBe(200)
  })
})
