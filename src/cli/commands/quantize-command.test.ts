import { describe, expect, it } from 'vitest'
import { createOperatorScene } from '../../../test/support/servers/operator-scene.ts'
import { parseCommandLine } from '../command-line.ts'
import { progressLine } from './quantize-command.ts'

describe('sluice quantize', () => {
  it('reads its mode, its output and where the checkpoint is', () => {
    const words = ['quantize', '--checkpoint', 'models/demo', '--mode', 'int8', '--output', 'small.gguf']
    expect(parseCommandLine(words)).toMatchObject({
      kind: 'quantize',
      command: { mode: 'int8', output: 'small.gguf' },
      flags: { checkpoint: 'models/demo' },
    })
    expect(parseCommandLine(['quantize'])).toMatchObject({ command: { mode: 'int4', output: null } })
  })

  it('needs a checkpoint', async () => {
    expect(await createOperatorScene({ env: {} }).sluice('quantize')).toEqual({
      exitCode: 2,
      printed: '',
      complaints: ['sluice: --checkpoint must name what to quantize.'],
    })
  })

  it('draws a bar', () => {
    expect(progressLine('quantizing', 0)).toBe(`sluice: quantizing [${'-'.repeat(30)}] 0 %`)
    expect(progressLine('quantizing', 0.5)).toBe(
      `sluice: quantizing [${'#'.repeat(15)}${'-'.repeat(15)}] 50 %`,
    )
    expect(progressLine('quantizing', 1)).toBe(`sluice: quantizing [${'#'.repeat(30)}] 100 %`)
  })
})
