import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { COMMIT, type HubServer, startHub } from '../../../test/support/checkpoints/hub-server.ts'
import { VirtualClock } from '../../core/clock.ts'
import { run } from '../run.ts'

const WEIGHTS = Buffer.alloc(100_000, 'abc')

async function createScene() {
  const cache = mkdtempSync(path.join(tmpdir(), 'sluice-pull-'))
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }))
  const hub: HubServer = await startHub({ 'a.gguf': WEIGHTS })
  const printed: string[] = []
  const complaints: string[] = []
  const progress: (string | null)[] = []
  let onSignal = () => {}
  const terminal = {
    env: { HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cache, HF_TOKEN_PATH: '/no/such/token' },
    print: (line: string) => void printed.push(line),
    complain: (line: string) => void complaints.push(line),
    showProgress: (line: string | null) => void progress.push(line),
    onSignal: (handler: () => void) => {
      onSignal = handler
    },
    onHangUp: () => {},
    onReplace: () => {},
    notifyReady: () => {},
    exit: () => {},
  }
  const clock = new VirtualClock()
  const sluice = (...words: string[]) =>
    run(words, {
      terminal,
      clock,
      defaults: {},
      createServer: (_, { signal, onNotice }) =>
        new Promise((_, reject) => {
          onNotice?.('Downloading.')
          signal?.addEventListener('abort', () => reject(new Error('stopped')))
          onSignal()
        }),
    })
  return { hub, cache, printed, complaints, progress, sluice, interrupt: () => onSignal() }
}

it('prints where the model stands, after a bar', async () => {
  const scene = await createScene()
  expect(await scene.sluice('pull', 'hf:acme/tiny:a.gguf')).toBe(0)
  const [found = ''] = scene.printed
  expect(found).toBe(path.join(scene.cache, 'models--acme--tiny/snapshots', COMMIT, 'a.gguf'))
  expect(readFileSync(found).equals(WEIGHTS)).toBe(true)
  expect(scene.progress[0]).toMatch(/^sluice: downloading acme\/tiny \[[#-]{24}\] \d+ % of 1 MB$/)
  expect(scene.progress.at(-1)).toBeNull()
  expect(scene.complaints).toEqual([])
})

it('ends at a signal with 1 and a sentence', async () => {
  const scene = await createScene()
  scene.hub.behaviour.beforeSending = () => {
    scene.interrupt()
    return new Promise(() => {})
  }
  expect(await scene.sluice('pull', 'hf:acme/tiny:a.gguf')).toBe(1)
  expect(scene.complaints).toEqual([
    'sluice: The download of hf:acme/tiny:a.gguf was interrupted; what has arrived is kept for the next one.',
  ])
  expect(scene.printed).toEqual([])
})

it.each([
  [
    'models/demo',
    2,
    /^sluice: The model must be a model of the Hub, such as hf:org\/repo, but was 'models\/demo'\.$/,
  ],
  ['hf:acme', 1, /^sluice: There is no model acme at http/],
  ['https://hf.co/acme/tiny', 2, /^sluice: 'https:\S+' names no model of the Hub; write hf:acme\/tiny\.$/],
  ['hf:a/b/c', 2, /^sluice: 'hf:a\/b\/c' names no model of the Hub/],
])('refuses %s', async (model, exitCode, sentence) => {
  const scene = await createScene()
  expect(await scene.sluice('pull', model)).toBe(exitCode)
  expect(scene.complaints).toEqual([expect.stringMatching(sentence)])
})

it('a signal ends what the server does before it listens', async () => {
  const scene = await createScene()
  expect(await scene.sluice('serve')).toBe(1)
  expect(scene.complaints[0]).toBe('sluice: Downloading.')
})
