import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/servers/server-process.ts'
import { cachedArtifact } from './artifact-cache.ts'
import { fileIdentity } from './content-hash.ts'
import { requireIntact } from './intact-artifact.ts'

/** More than one chunk of the checksum, and no two chunks alike. */
const CONTENT = Buffer.from(Uint32Array.from({ length: 1_200_000 }, (_, index) => index).buffer)

let dataDir = ''
let source = ''
beforeEach(async () => {
  const folder = temporaryFolder()
  dataDir = join(folder, 'data')
  source = join(folder, 'source')
  await writeFile(source, 'source')
})

async function find(folder: string, { isOpened = true } = {}) {
  let made = 0
  const damaged: string[] = []
  const { path } = await cachedArtifact({
    dataDir: folder,
    recipe: 'test',
    sources: async () => [source],
    manifest: { from: [source], as: 'test' },
    make: async (outputPath) => {
      made++
      await writeFile(outputPath, CONTENT)
    },
    isOpened,
    onDamaged: (one) => void damaged.push(one),
  })
  return { path, made, damaged }
}

/** As another run finds it: this process knows nothing of a file at another path. */
async function inAnotherRun(change: (path: string) => Promise<void>, options?: { isOpened: boolean }) {
  const { path } = await find(dataDir)
  const copy = `${dataDir}-of-another-run`
  await cp(dataDir, copy, { recursive: true })
  const copied = path.replace(dataDir, copy)
  await change(copied)
  const found = await find(copy, options)
  expect(found.path).toBe(copied)
  expect((await readFile(copied)).equals(CONTENT)).toBe(true)
  return found
}

describe('an artifact that another run has made', () => {
  it('is used when its content is what was made', async () => {
    expect(await inAnotherRun(async () => {})).toMatchObject({ made: 0, damaged: [] })
  })

  it.each([
    [
      'its second half is zeros',
      async (path: string) => {
        await truncate(path, CONTENT.length / 2)
        await truncate(path, CONTENT.length)
      },
    ],
    [
      'one bit has changed',
      async (path: string) => {
        const bytes = await readFile(path)
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 5) ^ 4, bytes.length - 5)
        await writeFile(path, bytes)
      },
    ],
    ['its end is missing', (path: string) => truncate(path, CONTENT.length - 1)],
    ['its checksum is missing', (path: string) => rm(path.replace(/gguf$/, 'json'))],
    ['its checksum is damaged', (path: string) => writeFile(path.replace(/gguf$/, 'json'), '{"checks')],
  ])('is made again, and that is said, when %s', async (_, change) => {
    const { path, made, damaged } = await inAnotherRun(change)
    expect({ made, damaged }).toEqual({ made: 1, damaged: [path] })
    // With a checksum of its own.
    expect(await find(`${dataDir}-of-another-run`)).toMatchObject({ made: 0, damaged: [] })
  })
})

describe('an artifact that is only the source of another', () => {
  it('is not read where nothing seems to have written to it, and is compared before it is', async () => {
    const { path } = await find(dataDir)
    const copy = join(`${dataDir}-copy`)
    await cp(dataDir, copy, { recursive: true })
    const copied = path.replace(dataDir, copy)
    // As on a disk that has changed a bit by itself: the times and the size are those of the manifest.
    await truncate(copied, CONTENT.length / 2)
    await truncate(copied, CONTENT.length)
    const manifestPath = copied.replace(/gguf$/, 'json')
    const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as object
    await writeFile(manifestPath, JSON.stringify({ ...manifest, identity: await fileIdentity(copied) }))
    expect(await find(copy, { isOpened: false })).toMatchObject({ made: 0, damaged: [] })
    await expect(requireIntact(copied, undefined)).rejects.toThrow(
      `${copied} was damaged on the disk; remove it, and it is made again.`,
    )
    expect(await find(copy)).toMatchObject({ made: 1, damaged: [copied] })
    await requireIntact(copied, undefined)
  })

  it('is made again where something has written to it', async () => {
    expect(
      await inAnotherRun((path) => truncate(path, CONTENT.length / 2), { isOpened: false }),
    ).toMatchObject({ made: 1 })
  })

  it('may be any other file, which is not compared', async () => {
    await requireIntact(source, undefined)
  })
})

describe('an artifact that this run has made', () => {
  it('is used again, and made again when something has written to it', async () => {
    const { path, made } = await find(dataDir)
    expect(made).toBe(1)
    expect(await find(dataDir)).toEqual({ path, made: 0, damaged: [] })
    await truncate(path, CONTENT.length / 2)
    await truncate(path, CONTENT.length)
    expect(await find(dataDir)).toEqual({ path, made: 1, damaged: [path] })
    expect((await readFile(path)).equals(CONTENT)).toBe(true)
  })

  it('is not found in a folder that lies under its name', async () => {
    const { path } = await find(dataDir)
    await rm(path)
    await mkdir(path)
    await expect(find(dataDir)).rejects.toThrow(/^Cannot write .*: it is a folder\.$/)
  })
})
