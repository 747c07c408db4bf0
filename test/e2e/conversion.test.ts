/** Conversions that do not come to their end: full disks, killed processes, two at once. */
import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, inject, it, vi } from 'vitest'
import {
  SMALL_LLAMA,
  listening,
  logged,
  spawnServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'

/** Models, whole or not; the notes beside them do not count. */
const filesIn = (dataDir: string) => {
  try {
    return readdirSync(path.join(dataDir, 'models')).filter((name) => !name.endsWith('.json'))
  } catch {
    return []
  }
}
const wordsFor = (dataDir: string, checkpoint = SMALL_LLAMA) => [
  ...[
    '--data-dir',
    dataDir,
    '--checkpoint',
    checkpoint,
    '--threads',
    '1',
    '--api-keys',
    'key-of-this-conversion',
  ],
]

it('on a disk that fills up ends in one sentence, with nothing left', async () => {
  const dataDir = temporaryFolder()
  const server = spawnServer([...wordsFor(dataDir), '--log-level', 'silent'], { maxFileBlocks: 4000 })
  expect(await server.ended).toEqual({ code: 1, signal: null })
  const told = server.stderr.filter((line) => line.startsWith('sluice: '))
  expect(told).toEqual([
    expect.stringMatching(/Cannot write .*\.tmp: the file system does not take a file of this size\.$/),
  ])
  expect(filesIn(dataDir)).toEqual([])
})

it('is made again when the disk has lost a part of it, which the log says', async () => {
  const dataDir = temporaryFolder()
  cpSync(inject('convertedSmallLlama'), dataDir, { recursive: true })
  const [name = ''] = filesIn(dataDir)
  const file = path.join(dataDir, 'models', name)
  const whole = readFileSync(file)
  truncateSync(file, whole.length / 2)
  truncateSync(file, whole.length)

  const next = await listening(spawnServer(wordsFor(dataDir)))
  const line = await logged(next, 'a cached file does not match its checksum, or has none, and is made again')
  expect(line).toMatchObject({ level: 'warn', file })
  await logged(next, 'serving')
  expect(readFileSync(file).equals(whole)).toBe(true)
})

it('is made after a kill by two servers that start at once: one file, and what was left of the other goes', async () => {
  const dataDir = temporaryFolder()
  // Weights of forty megabytes, of which most is a hole: long enough to be killed in the middle.
  const large = path.join(temporaryFolder(), 'large')
  cpSync(SMALL_LLAMA, large, { recursive: true })
  grow(large)
  const killed = spawnServer(wordsFor(dataDir, large))
  await vi.waitFor(() => expect(filesIn(dataDir)).toEqual([expect.stringMatching(/\.tmp$/)]), {
    timeout: 30_000,
    interval: 5,
  })
  killed.child.kill('SIGKILL')
  await killed.ended
  const [left = ''] = filesIn(dataDir)
  expect(left).toMatch(/\.tmp$/)

  const servers = [1, 2].map((number) =>
    spawnServer([
      ...wordsFor(dataDir),
      ...['--api-db', path.join(dataDir, `${number}.db`), '--usage-db', ':memory:'],
    ]),
  )
  for (const server of servers) await logged(await listening(server), 'serving')
  expect(filesIn(dataDir)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.gguf$/)])
})

/** Gives the model a vocabulary of many more, unused, tokens. */
function grow(folder: string): void {
  const configPath = path.join(folder, 'config.json')
  const config = JSON.parse(readFileSync(configPath, 'utf8')) as { vocab_size: number; hidden_size: number }
  const { vocab_size: oldSize, hidden_size: width } = config
  const vocabSize = 80_000
  writeFileSync(configPath, JSON.stringify({ ...config, vocab_size: vocabSize }))
  const weightsPath = path.join(folder, 'model.safetensors')
  const file = readFileSync(weightsPath)
  const length = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as Record<
    string,
    { shape?: number[]; data_offsets?: [number, number]; dtype?: string }
  >
  // What the embeddings gain goes to the end of the file, so they do too.
  let offset = 0
  const entries: [string, object][] = []
  const data: Buffer[] = []
  const isVocabulary = (shape: readonly number[]) => shape[0] === oldSize && shape[1] === width
  const sorted = Object.entries(header).filter(([name]) => name !== '__metadata__')
  const ordered = [
    ...sorted.filter(([, { shape = [] }]) => !isVocabulary(shape)),
    ...sorted.filter(([, { shape = [] }]) => isVocabulary(shape)),
  ]
  for (const [name, { shape = [], dtype, data_offsets: [begin, end] = [0, 0] }] of ordered) {
    const isLast = isVocabulary(shape)
    const size = isLast ? ((end - begin) / oldSize) * vocabSize : end - begin
    entries.push([
      name,
      { dtype, shape: isLast ? [vocabSize, width] : shape, data_offsets: [offset, offset + size] },
    ])
    if (!isLast) data.push(file.subarray(8 + length + begin, 8 + length + end))
    offset += size
  }
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const lengthBytes = Buffer.alloc(8)
  lengthBytes.writeBigUInt64LE(BigInt(json.length))
  writeFileSync(weightsPath, Buffer.concat([lengthBytes, json, ...data]))
  truncateSync(weightsPath, 8 + json.length + offset)
}
