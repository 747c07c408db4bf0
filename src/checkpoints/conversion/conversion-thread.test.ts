/** Which checkpoints are planned in the thread that serves requests, which may be held for milliseconds only. */
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useConversions } from '../../../test/support/checkpoints/conversions.ts'
import { findCheckpointFiles } from '../checkpoint-files.ts'
import { isSmall } from './conversion-thread.ts'

const { write, optionsFor } = useConversions()

async function isPlannedHere(checkpoint: string): Promise<boolean> {
  const files = await findCheckpointFiles(optionsFor(checkpoint))
  return files.kind === 'hugging-face' && (await isSmall(files))
}

it('a small checkpoint is planned here, whatever its weights are', async () => {
  expect(await isPlannedHere(await write())).toBe(true)
})

it.each(['tokenizer.json', 'config.json', 'README.md', 'tokenizer.model', 'chat_template.jinja'])(
  'one with a long %s is not',
  async (name) => {
    const checkpoint = await write()
    await writeFile(join(checkpoint, name), '', { flag: 'a' })
    await truncate(join(checkpoint, name), 300_000)
    expect(await isPlannedHere(checkpoint)).toBe(false)
  },
)

it('nor is one whose weights have a long header, or are in several files', async () => {
  const long = Buffer.alloc(300_008, ' ')
  long.writeBigUInt64LE(300_000n)
  expect(await isPlannedHere(await write({ weights: { 'model.safetensors': long } }))).toBe(false)
  const index = Buffer.from(JSON.stringify({ weight_map: { a: 'one.safetensors' } }))
  expect(await isPlannedHere(await write({ weights: { 'model.safetensors.index.json': index } }))).toBe(false)
})
