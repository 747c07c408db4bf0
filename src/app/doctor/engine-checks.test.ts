/** Adapters of the Hub, which a start downloads. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { startHub } from '../../../test/support/checkpoints/hub-server.ts'
import { checkAdapter } from './engine-checks.ts'

const SOURCE = { kind: 'adapter', base: 'tiny', adapter: 'hf:acme/tiny', scale: 1 } as const
const FILES = {
  'adapter_config.json': '{}',
  'adapter_model.safetensors': Buffer.alloc(3e6),
}

beforeEach(() => {
  const cache = mkdtempSync(path.join(tmpdir(), 'sluice-hub-'))
  onTestFinished(() => rmSync(cache, { recursive: true }))
  vi.stubEnv('HF_HUB_CACHE', cache)
})
afterEach(() => void vi.unstubAllEnvs())

it('an adapter of the Hub is well, with what will be downloaded', async () => {
  const hub = await startHub(FILES)
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  expect(await checkAdapter(SOURCE, ['tiny'])).toEqual({
    ...{ subject: 'adapter', state: 'ok' },
    text: "hf:acme/tiny, for 'tiny'. 3 MB will be downloaded.",
  })
})

it('and one of a repository without an adapter is not', async () => {
  const hub = await startHub({ 'config.json': '{}', 'model.safetensors': Buffer.alloc(8) })
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  await expect(checkAdapter(SOURCE, ['tiny'])).rejects.toThrow('acme/tiny holds no adapter')
})
