/** A named pipe in the place of a file of a model: opening one would wait for a writer, for ever. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useConversions } from '../../../test/support/checkpoints/conversions.ts'
import { safetensors, SHAPES } from '../../../test/support/checkpoints/tiny-checkpoint.ts'
import { openGgufModel } from '../gguf/gguf-file.ts'
import { openCheckpoint } from '../safetensors/safetensors-file.ts'

const conversions = useConversions()
const { write, resolve } = conversions

function putPipe(path: string): void {
  rmSync(path, { force: true })
  execFileSync('mkfifo', [path])
}

describe('a named pipe', () => {
  it.each(['config.json', 'tokenizer.json', 'model.safetensors'])('as %s is refused', async (name) => {
    const checkpoint = await write()
    putPipe(join(checkpoint, name))
    await expect(resolve(checkpoint)).rejects.toThrow(`${join(checkpoint, name)} is not a file.`)
  })

  it('as a shard is refused', async () => {
    const index = JSON.stringify({ weight_map: { a: 'one.safetensors', b: 'two.safetensors' } })
    const checkpoint = await write({
      weights: {
        'model.safetensors.index.json': Buffer.from(index),
        'one.safetensors': safetensors(SHAPES, 'BF16'),
      },
    })
    const pipe = join(checkpoint, 'two.safetensors')
    putPipe(pipe)
    const opened = openCheckpoint(join(checkpoint, 'model.safetensors.index.json'))
    await expect(opened).rejects.toThrow(`${pipe} is not a file.`)
    await expect(resolve(checkpoint)).rejects.toThrow(`${pipe} is not a file.`)
  })

  it('as a part of a split is refused', async () => {
    const checkpoint = await write()
    const pipe = join(checkpoint, 'm-00001-of-00002.gguf')
    putPipe(pipe)
    await expect(openGgufModel(join(checkpoint, 'm-00002-of-00002.gguf'))).rejects.toThrow(
      `${pipe} is not a file.`,
    )
  })
})
