/** The small Llama, converted once for the servers of all tests: each would work half a second on it. */
import type { TestProject } from 'vitest/node'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import { resolveModelFile } from '../../../src/checkpoints/model-file.ts'
import { makeUndoable } from '../shared.ts'
import { SMALL_LLAMA, temporaryFolder } from './server-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A data folder that holds the conversion. */
    readonly convertedSmallLlama: string
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { thing: dataDir, undo } = await makeUndoable(async () => {
    const folder = temporaryFolder()
    const files = { checkpoint: SMALL_LLAMA, modelConfig: null, tokenizer: null }
    await resolveModelFile({ ...files, dataDir: folder, convert: convertCheckpoint })
    return folder
  })
  project.provide('convertedSmallLlama', dataDir)
  return undo
}
