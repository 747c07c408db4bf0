import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  COMMIT,
  digest,
  type HubBehaviour,
  type HubFiles,
  type HubServer,
  startHub,
  startsOf,
} from '../../../test/support/checkpoints/hub-server.ts'
import { StartError } from '../../core/errors.ts'
import { pullModel, type PullOptions } from './pull-model.ts'

const WEIGHTS = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 31) % 251))
const HASH = digest('sha256', WEIGHTS)
const hashOf = (file: string) => digest('sha256', readFileSync(file))
const MODEL: HubFiles = {
  'config.json': '{"a":1}',
  'tokenizer.json': JSON.stringify({ model: 'x'.repeat(2000) }),
  'tokenizer_config.json': '{}',
  'generation_config.json': '{}',
  'chat_template.jinja': '{{ messages }}',
  'model.safetensors': WEIGHTS,
  'pytorch_model.bin': WEIGHTS,
  'README.md': '# Tiny',
  'onnx/model.safetensors': WEIGHTS,
}
const SHARDED: HubFiles = {
  'config.json': '{}',
  'tokenizer.json': '{}',
  'model.safetensors.index.json': JSON.stringify({
    weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' },
  }),
  'model-1.safetensors': WEIGHTS,
  'model-2.safetensors': Buffer.concat([WEIGHTS, WEIGHTS]),
  'consolidated.safetensors': WEIGHTS,
}
const GGUFS: HubFiles = {
  'tiny-Q4_0.gguf': WEIGHTS,
  'big/tiny-F16-00001-of-00002.gguf': 'one',
  'big/tiny-F16-00002-of-00002.gguf': 'two',
}

/** A cache folder that goes with the test. */
function createCache(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-hub-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Where nobody listens. */
async function unusedAddress(): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

interface Scene {
  readonly hub: HubServer
  readonly cache: string
  readonly env: Readonly<Record<string, string>>
  readonly pull: (text: string, options?: Partial<PullOptions>) => Promise<string>
  /** The sentence that a pull fails with; it must be one for the operator. */
  readonly refusal: (text: string, options?: Partial<PullOptions>) => Promise<string>
}

function createScene(hub: HubServer, cache = createCache()): Scene {
  const env = { HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cache, HF_TOKEN_PATH: path.join(cache, 'no-token') }
  const pull: Scene['pull'] = (text, options) => pullModel(text, { env, retryPauseMs: 1, ...options })
  const refusal: Scene['refusal'] = async (text, options) => {
    const error: unknown = await pull(text, options).then(
      (found) => `found ${found}`,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(StartError)
    expect((error as StartError).exitCode).toBe(1)
    return (error as StartError).message
  }
  return { hub, cache, env, pull, refusal }
}

const repoFolder = ({ cache }: Scene, ...names: string[]) => path.join(cache, 'models--acme--tiny', ...names)
const snapshot = (scene: Scene) => readdirSync(repoFolder(scene, 'snapshots', COMMIT)).sort()
const blobs = (scene: Scene) => readdirSync(repoFolder(scene, 'blobs')).sort()

describe('what is pulled', () => {
  it('is the checkpoint and what belongs to it, in the layout of the shared cache', async () => {
    const scene = createScene(await startHub(MODEL))
    const found = await scene.pull('hf:acme/tiny')
    expect(found).toBe(repoFolder(scene, 'snapshots', COMMIT, 'model.safetensors'))
    expect(hashOf(found)).toBe(HASH)
    expect(snapshot(scene)).toEqual([
      'README.md',
      'chat_template.jinja',
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    expect(readlinkSync(found)).toBe(`../../blobs/${HASH}`)
    expect(readFileSync(repoFolder(scene, 'refs', 'main'), 'utf8')).toBe(COMMIT)
    // git hash-object of {"a":1} without a line end.
    expect(readlinkSync(repoFolder(scene, 'snapshots', COMMIT, 'config.json'))).toBe(
      `../../blobs/${digest('sha1', Buffer.from('blob 7\0{"a":1}'))}`,
    )
    expect(blobs(scene).filter((name) => name.includes('.'))).toEqual([])
  })

  it('is the index and the shards that it names', async () => {
    const scene = createScene(await startHub(SHARDED))
    expect(path.basename(await scene.pull('hf:acme/tiny'))).toBe('model.safetensors.index.json')
    expect(snapshot(scene)).toEqual([
      'config.json',
      'model-1.safetensors',
      'model-2.safetensors',
      'model.safetensors.index.json',
      'tokenizer.json',
    ])
  })

  it('is the one GGUF file that is named, with all parts of a split', async () => {
    const scene = createScene(await startHub(GGUFS))
    expect(path.basename(await scene.pull('hf:acme/tiny:tiny-Q4_0.gguf'))).toBe('tiny-Q4_0.gguf')
    expect(snapshot(scene)).toEqual(['tiny-Q4_0.gguf'])
    const first = await scene.pull('hf:acme/tiny@main:big/tiny-F16-00001-of-00002.gguf')
    expect(readFileSync(first, 'utf8')).toBe('one')
    expect(readFileSync(first.replace('00001-of', '00002-of'), 'utf8')).toBe('two')
  })

  it('is asked for by commit as well, which leaves no ref', async () => {
    const scene = createScene(await startHub(MODEL))
    await scene.pull(`hf:acme/tiny@${COMMIT}`)
    expect(readdirSync(repoFolder(scene))).not.toContain('refs')
  })

  it.each<[string, Partial<HubBehaviour>]>([
    ['describes large files as Xet-backed', { isXet: true }],
    ['keeps small files in a cache of its own', { redirectsSmall: true }],
    ['has it under another name by now', { renamedTo: 'acme-labs/tiny-2', token: 'hf_abc' }],
  ])('is the same when the Hub %s', async (_, behaviour) => {
    const scene = createScene(await startHub(MODEL, behaviour))
    const found = await scene.pull('hf:acme/tiny', { env: { ...scene.env, HF_TOKEN: 'hf_abc' } })
    expect(found).toBe(repoFolder(scene, 'snapshots', COMMIT, 'model.safetensors'))
    expect(hashOf(found)).toBe(HASH)
    expect(snapshot(scene)).toHaveLength(7)
    expect(
      scene.hub.requests.filter(({ server, authorization }) => server === 'storage' && authorization),
    ).toEqual([])
  })

  it('is downloaded once', async () => {
    const scene = createScene(await startHub(MODEL))
    await scene.pull('hf:acme/tiny')
    const before = scene.hub.downloads().length
    await scene.pull('hf:acme/tiny')
    expect(scene.hub.downloads().length).toBe(before)
  })

  it('is downloaded only where a new revision differs, and the old one stays', async () => {
    const scene = createScene(await startHub(MODEL))
    const old = await scene.pull('hf:acme/tiny')
    const before = scene.hub.downloads().length
    scene.hub.behaviour.commit = COMMIT.replaceAll('0', '1')
    const found = await scene.pull('hf:acme/tiny')
    expect(found).not.toBe(old)
    expect([hashOf(old), hashOf(found)]).toEqual([HASH, HASH])
    expect(scene.hub.downloads().length).toBe(before)
    expect(readFileSync(repoFolder(scene, 'refs', 'main'), 'utf8')).toBe(scene.hub.behaviour.commit)
  })

  it('is not downloaded when another tool has it, and is served without asking anyone', async () => {
    const scene = createScene(await startHub(MODEL))
    mkdirSync(repoFolder(scene, 'blobs'), { recursive: true })
    mkdirSync(repoFolder(scene, 'snapshots', COMMIT), { recursive: true })
    mkdirSync(repoFolder(scene, 'refs'))
    writeFileSync(repoFolder(scene, 'blobs', HASH), WEIGHTS)
    symlinkSync(`../../blobs/${HASH}`, repoFolder(scene, 'snapshots', COMMIT, 'model.safetensors'))
    writeFileSync(repoFolder(scene, 'refs', 'main'), COMMIT)
    const env = { ...scene.env, HF_HUB_OFFLINE: '1' }
    expect(path.basename(await scene.pull('hf:acme/tiny', { env }))).toBe('model.safetensors')
    expect(scene.hub.requests).toEqual([])
    await scene.pull('hf:acme/tiny')
    expect(scene.hub.downloads().map(({ path }) => path)).toEqual(['/tokenizer.json'])
  })

  it('tells how far it is', async () => {
    const scene = createScene(await startHub(MODEL))
    const shares: number[] = []
    await scene.pull('hf:acme/tiny', {
      onProgress: ({ bytes, totalBytes }) => void shares.push(bytes / totalBytes),
    })
    expect(shares.at(-1)).toBe(1)
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...shares)).toBe(1)
  })
})

describe('the token', () => {
  it('goes to the Hub and not to where the files are kept', async () => {
    const scene = createScene(await startHub(MODEL, { token: 'not-of-the-usual-form' }))
    await scene.pull('hf:acme/tiny', { env: { ...scene.env, HF_TOKEN: ' not-of-the-usual-form\n' } })
    const sentTo = (server: string) =>
      new Set(scene.hub.requests.filter((one) => one.server === server).map((one) => one.authorization))
    expect(sentTo('hub')).toEqual(new Set(['Bearer not-of-the-usual-form']))
    expect(sentTo('storage')).toEqual(new Set([null]))
  })

  it('is read from the file where the tools of the Hub leave it', async () => {
    const scene = createScene(await startHub(MODEL, { token: 'hf_kept' }))
    writeFileSync(path.join(scene.cache, 'token'), 'hf_kept\n')
    const env = { HF_ENDPOINT: scene.hub.endpoint, HF_HOME: scene.cache }
    expect(await scene.pull('hf:acme/tiny', { env })).toContain(
      path.join(scene.cache, 'hub', 'models--acme--tiny'),
    )
  })

  it('is asked for when the model is gated', async () => {
    const scene = createScene(await startHub(MODEL, { token: 'hf_right' }))
    expect(await scene.refusal('hf:acme/tiny')).toMatch(/acme\/tiny is gated: set HF_TOKEN/)
    const wrong = await scene.refusal('hf:acme/tiny', { env: { ...scene.env, HF_TOKEN: 'hf_wrong' } })
    expect(wrong).toMatch(/gated: HF_TOKEN, or the account it is of, may not read it/)
    expect(wrong).not.toContain('hf_wrong')
  })
})

describe('a question to the Hub whose connection breaks', () => {
  it.each(['/revision/', '/tree/', '/resolve/'])('is asked again: %s', async (route) => {
    const hub = await startHub({ 'a.gguf': WEIGHTS })
    let drops = 0
    hub.behaviour.dropsRequest = ({ path: asked }) => asked.includes(route) && drops++ < 2
    const scene = createScene(hub)

    expect(hashOf(await scene.pull('hf:acme/tiny:a.gguf'))).toBe(HASH)
    expect(drops).toBeGreaterThan(2)
    expect(snapshot(scene)).toEqual(['a.gguf'])
  })

  it('is asked again after a pause where the Hub cannot answer now', async () => {
    const hub = await startHub(MODEL, { refusal: { status: 503 } })
    hub.behaviour.dropsRequest = () => {
      // The third question is answered.
      if (hub.requests.length > 2) hub.behaviour.refusal = null
      return false
    }

    await createScene(hub).pull('hf:acme/tiny')
    expect(hub.requests.slice(0, 3).map(({ path: asked }) => asked)).toEqual(
      Array(3).fill('/api/models/acme/tiny/revision/main'),
    )
  })

  it('is asked three times at most', async () => {
    const hub = await startHub(MODEL, { dropsRequest: () => true })

    expect(await createScene(hub).refusal('hf:acme/tiny')).toBe(
      `Cannot reach ${hub.endpoint}: the connection was broken off.`,
    )
    expect(hub.requests).toHaveLength(3)
  })
})

describe('a download that is cut off', () => {
  it('goes on by itself where the connection broke', async () => {
    const hub = await startHub({ 'a.gguf': WEIGHTS })
    let breaks = 0
    hub.behaviour.breakAfter = () => (breaks++ < 3 ? 50_000 : null)
    const scene = createScene(hub)
    expect(hashOf(await scene.pull('hf:acme/tiny:a.gguf'))).toBe(HASH)
    // What was on its way when the connection broke may be lost.
    const starts = startsOf(hub.downloads())
    expect(starts).toHaveLength(4)
    expect(starts).toEqual([...starts].sort((one, other) => one - other))
    expect(starts[1]).toBeGreaterThan(0)
  })

  it('goes on where an interrupted one stopped, and is nothing until then', async () => {
    const hub = await startHub({ 'a.gguf': WEIGHTS })
    const scene = createScene(hub)
    const stopping = new AbortController()
    hub.behaviour.breakAfter = () => 80_000
    const told = await scene.refusal('hf:acme/tiny:a.gguf', {
      signal: stopping.signal,
      onProgress: ({ bytes }) => bytes > 0 && stopping.abort(),
    })
    expect(told).toBe(
      'The download of hf:acme/tiny:a.gguf was interrupted; what has arrived is kept for the next one.',
    )
    expect(blobs(scene)).toEqual([expect.stringMatching(/\.incomplete$/)])
    const arrived = statSync(repoFolder(scene, 'blobs', blobs(scene)[0] ?? '')).size
    expect(readdirSync(repoFolder(scene))).toEqual(['blobs'])
    const env = { ...scene.env, HF_HUB_OFFLINE: '1' }
    expect(await scene.refusal('hf:acme/tiny:a.gguf', { env })).toMatch(/is not in the cache of models/)

    hub.behaviour.breakAfter = () => null
    expect(hashOf(await scene.pull('hf:acme/tiny:a.gguf'))).toBe(HASH)
    expect(startsOf(hub.downloads())).toEqual([0, arrived])
    expect(arrived).toBeGreaterThan(0)
    expect(blobs(scene)).toEqual([HASH])
  })

  it('takes the whole from a server that cannot send parts', async () => {
    const hub = await startHub({ 'a.gguf': WEIGHTS }, { hasRanges: false })
    let breaks = 0
    hub.behaviour.breakAfter = () => (breaks++ === 0 ? 50_000 : null)
    expect(hashOf(await createScene(hub).pull('hf:acme/tiny:a.gguf'))).toBe(HASH)
  })

  it('is given up when nothing comes any more, and when the Hub is silent', async () => {
    const hub = await startHub({ 'a.gguf': WEIGHTS }, { breakAfter: () => 0 })
    const scene = createScene(hub)
    expect(await scene.refusal('hf:acme/tiny:a.gguf')).toMatch(
      /^Cannot reach .*: the connection was broken off\.$/,
    )
    expect(hub.downloads()).toHaveLength(5)
    hub.behaviour.beforeSending = () => new Promise(() => {})
    expect(await scene.refusal('hf:acme/tiny:a.gguf', { silenceMs: 50 })).toMatch(/it was silent for 0\.05 s/)
  })

  it('leaves a part that someone works on alone, and waits for what comes of it', async () => {
    const scene = createScene(await startHub({ 'a.gguf': WEIGHTS }))
    mkdirSync(repoFolder(scene, 'blobs'), { recursive: true })
    const theirs = repoFolder(scene, 'blobs', `${HASH}.0123456789ab.incomplete`)
    writeFileSync(theirs, WEIGHTS.subarray(0, 1000))
    const waiting = new Promise<void>((resolve) => {
      const pulled = scene.pull('hf:acme/tiny:a.gguf', {
        onProgress: ({ bytes }) => {
          if (bytes !== 1000) return
          writeFileSync(repoFolder(scene, 'blobs', HASH), WEIGHTS)
          resolve()
        },
      })
      onTestFinished(async () => void (await pulled))
    })
    await waiting
    expect(scene.hub.downloads()).toEqual([])
  })

  it.each([
    ['a minute ago', -60_000],
    ['before the clock was put back by a day', 86_400_000],
  ])('goes on with a part whose owner has gone %s', async (_, offsetMs) => {
    const scene = createScene(await startHub({ 'a.gguf': WEIGHTS }))
    mkdirSync(repoFolder(scene, 'blobs'), { recursive: true })
    const theirs = repoFolder(scene, 'blobs', `${HASH}.0123456789ab.incomplete`)
    writeFileSync(theirs, WEIGHTS.subarray(0, 1000))
    utimesSync(theirs, new Date(), new Date(Date.now() + offsetMs))
    await scene.pull('hf:acme/tiny:a.gguf')
    expect(scene.hub.downloads().map(({ range }) => range)).toEqual(['bytes=1000-'])
    expect(blobs(scene)).toEqual([HASH])
  })
})

describe('several at once', () => {
  it('get one whole model', async () => {
    const hub = await startHub(SHARDED)
    const cache = createCache()
    const [one, other] = [createScene(hub, cache), createScene(hub, cache)]
    const found = await Promise.all([one, other, one, other].map((scene) => scene.pull('hf:acme/tiny')))
    expect(new Set(found).size).toBe(1)
    expect(hashOf(path.join(path.dirname(found[0] ?? ''), 'model-1.safetensors'))).toBe(HASH)
    expect(blobs(one).filter((name) => name.includes('.'))).toEqual([])
  })

  it('download each file once, also one that is small enough to be done before the others have looked', async () => {
    const shards = Array.from({ length: 20 }, (_, index) => `model-${index}.safetensors`)
    const hub = await startHub({
      ...SHARDED,
      'model.safetensors.index.json': JSON.stringify({
        weight_map: Object.fromEntries(shards.map((name) => [name, name])),
      }),
      ...Object.fromEntries(shards.map((name) => [name, name.repeat(40)])),
    })
    const cache = createCache()
    const found = await Promise.all(
      Array.from({ length: 6 }, () => createScene(hub, cache).pull('hf:acme/tiny')),
    )
    expect(new Set(found).size).toBe(1)
    const downloads = hub.downloads().map(({ path }) => path)
    expect(downloads).toEqual([...new Set(downloads)])
    expect(downloads).toEqual(expect.arrayContaining(shards.map((name) => `/${name}`)))
  })
})

describe('a checksum that is wrong', () => {
  it.each(['model.safetensors', 'config.json'])(
    'of %s leaves nothing that could be taken for it',
    async (name) => {
      const hub = await startHub(MODEL, {
        spoil: (path, content) => (path === name ? Buffer.from(content).fill(7, 2, 3) : content),
      })
      const scene = createScene(hub)
      expect(await scene.refusal('hf:acme/tiny')).toMatch(
        new RegExp(`^${name} arrived with a wrong checksum`),
      )
      expect(blobs(scene).filter((blob) => blob.includes('.'))).toEqual([])
      expect(readdirSync(repoFolder(scene))).not.toContain('refs')
      hub.behaviour.spoil = (_, content) => content
      expect(hashOf(await scene.pull('hf:acme/tiny'))).toBe(HASH)
    },
  )
})

interface Unpullable {
  readonly files: HubFiles
  readonly text: string
  readonly sentence: RegExp
}

const withIndex = (shard: string): HubFiles => ({
  ...SHARDED,
  'model.safetensors.index.json': JSON.stringify({ weight_map: { a: shard } }),
})

describe('an adapter', () => {
  it('is pulled as PEFT saves it, and found again without the Hub', async () => {
    const files = {
      'adapter_config.json': '{"r":4}',
      'adapter_model.safetensors': WEIGHTS,
      'tokenizer.json': '{}',
      'README.md': '# Tiny',
    }
    const { cache, pull, hub } = createScene(await startHub(files))

    const weights = await pull('hf:acme/tiny', { isAdapter: true })

    expect(path.basename(weights)).toBe('adapter_model.safetensors')
    expect(hashOf(weights)).toBe(HASH)
    expect(readdirSync(path.dirname(weights)).sort()).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
    ])
    const env = { HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cache, HF_HUB_OFFLINE: '1' }
    expect(await pull('hf:acme/tiny', { isAdapter: true, env })).toBe(weights)
  })
})

describe('what cannot be pulled', () => {
  it.each<[string, Unpullable]>([
    [
      'a repository that is not there',
      { files: MODEL, text: 'hf:acme/other', sentence: /^There is no model acme\/other at http:/ },
    ],
    [
      'a revision that is not there',
      { files: MODEL, text: 'hf:acme/tiny@v9', sentence: /^acme\/tiny has no revision 'v9'/ },
    ],
    [
      'a repository without a model',
      { files: { 'README.md': '' }, text: 'hf:acme/tiny', sentence: /has no \.safetensors or \.gguf file/ },
    ],
    [
      'a repository of PyTorch weights',
      {
        files: { 'config.json': '{}', 'pytorch_model.bin': '' },
        text: 'hf:acme/tiny',
        sentence: /has no .* but PyTorch weights \(pytorch_model\.bin\), which are not read/,
      },
    ],
    [
      'a LoRA adapter',
      {
        files: { 'adapter_config.json': '{}', 'adapter_model.safetensors': '' },
        text: 'hf:acme/tiny',
        sentence: /^acme\/tiny is a LoRA adapter, not a model: register it/,
      },
    ],
    [
      'several .safetensors files without an index',
      {
        files: { 'a.safetensors': '', 'b.safetensors': '' },
        text: 'hf:acme/tiny',
        sentence: /several .*: a\.saf/,
      },
    ],
    [
      'GGUF files of which none is named',
      {
        files: GGUFS,
        text: 'hf:acme/tiny',
        sentence: /name one of them.*: big\/tiny-F16-00001-of-00002\.gguf, tiny-Q4_0\.gguf\.$/,
      },
    ],
    [
      'a file that is not there',
      { files: GGUFS, text: 'hf:acme/tiny:no.gguf', sentence: /has no file 'no\.gguf', but these: big/ },
    ],
    [
      'a file of another kind',
      { files: MODEL, text: 'hf:acme/tiny:config.json', sentence: /is no \.gguf file/ },
    ],
    [
      'a split of which a part is missing',
      {
        files: { 'a-00001-of-00002.gguf': 'x' },
        text: 'hf:acme/tiny:a-00001-of-00002.gguf',
        sentence: /has no file 'a-00002-of-00002\.gguf'/,
      },
    ],
    [
      'an index that leads out of the folder',
      {
        files: withIndex('../../../etc/passwd'),
        text: 'hf:acme/tiny',
        sentence: /index of acme\/tiny .* does not name/,
      },
    ],
    [
      'an index that names what is not there',
      {
        files: withIndex('model-3.safetensors'),
        text: 'hf:acme/tiny',
        sentence: /names a file 'model-3\.safetensors' but does not have it/,
      },
    ],
  ])('%s', async (_, { files, text, sentence }) => {
    const scene = createScene(await startHub(files))
    expect(await scene.refusal(text)).toMatch(sentence)
  })

  it.each([
    ['MambaForCausalLM', {}, /config\.json has the architecture "MambaForCausalLM"/],
    ['LlamaForCausalLM', { quantization_config: { quant_method: 'awq' } }, /are already quantized/],
  ])('a model that cannot be converted, before its weights: %s %j', async (name, fields, sentence) => {
    const config = JSON.stringify({ architectures: [name], ...fields })
    const scene = createScene(await startHub({ ...MODEL, 'config.json': config }))

    expect(await scene.refusal('hf:acme/tiny', { checksConfig: true })).toMatch(sentence)
    expect(scene.hub.downloads()).toEqual([])
  })

  const message = 'Access to this resource is disabled.'
  it.each<[number, RegExp]>([
    [401, /There is no model acme\/tiny at .*, or it is not public: set HF_TOKEN/],
    [403, /forbids to read acme\/tiny \(status 403\): Access to this resource is disabled\.$/],
    [451, /refused to give acme\/tiny \(status 451\): Access to this resource is disabled\.$/],
    [429, /asked too often/],
    [500, /trouble of its own \(status 500\)/],
    [418, /refused to give acme\/tiny \(status 418\)/],
  ])('anything where the Hub answers %d', async (status, sentence) => {
    const scene = createScene(await startHub(MODEL, { refusal: { status, message } }))
    expect(await scene.refusal('hf:acme/tiny')).toMatch(sentence)
  })

  it('anything without a network, save for what was pulled before', async () => {
    const scene = createScene(await startHub(MODEL))
    const endpoint = await unusedAddress()
    const env = { ...scene.env, HF_ENDPOINT: endpoint }
    const told = `Cannot reach ${endpoint}: the connection was refused.`
    expect(await scene.refusal('hf:acme/tiny', { env })).toBe(told)
    const found = await scene.pull('hf:acme/tiny')
    const notices: string[] = []
    expect(await scene.pull('hf:acme/tiny', { env, onNotice: (line) => void notices.push(line) })).toBe(found)
    expect(notices).toEqual([`${told} Serving acme/tiny as it was pulled before.`])
  })

  it.each([
    { lfs: { oid: '../../../outside', size: 3 } },
    { lfs: undefined, oid: undefined },
    { lfs: undefined, size: -1 },
    { lfs: undefined, size: '3' },
  ])('anything from a Hub that lists %j', async (wrong) => {
    const scene = createScene(await startHub(MODEL, { spoilEntry: (entry) => ({ ...entry, ...wrong }) }))
    expect(await scene.refusal('hf:acme/tiny')).toMatch(
      /gave a file without a checksum or a size for acme\/tiny/,
    )
    expect(readdirSync(scene.cache)).toEqual([])
  })

  it('anything named so that it would leave the folder', async () => {
    const names = ['../config.json', 'a/../../b.gguf', '/etc/c.gguf']
    const scene = createScene(await startHub(Object.fromEntries(names.map((name) => [name, WEIGHTS]))))
    expect(await scene.refusal('hf:acme/tiny')).toMatch(/has no \.safetensors or \.gguf file/)
  })

  it('anything from a server that is no Hub', async () => {
    const scene = createScene(await startHub(MODEL, { commit: 'not a commit' }))
    expect(await scene.refusal('hf:acme/tiny')).toMatch(
      /gave a revision without a commit.*is HF_ENDPOINT a Hub\?/,
    )
  })

  it('anything into a cache that cannot be written', async () => {
    const scene = createScene(await startHub(MODEL))
    const file = path.join(scene.cache, 'file')
    writeFileSync(file, '')
    const told = await scene.refusal('hf:acme/tiny', { env: { ...scene.env, HF_HUB_CACHE: file } })
    expect(told).toBe(
      `Cannot write to the cache of models ${file} (HF_HUB_CACHE): a part of its path is not a folder.`,
    )
  })
})

it('an interruption before the first answer is one too', async () => {
  const scene = createScene(await startHub(MODEL))
  const stopping = new AbortController()
  stopping.abort()
  expect(await scene.refusal('hf:acme/tiny', { signal: stopping.signal })).toMatch(/was interrupted/)
})
