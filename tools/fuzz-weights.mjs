// @ts-check
/**
 * Damages GGUF files and checkpoints, 40,000 or as many as given, and reads them: one sentence each, none longer than
 * a second, all within 512 MB. Every second one is a GGUF or a safetensors file. Usage: node tools/fuzz-weights.mjs [files] [first seed]
 */
import { prepareOrTell, ROOT } from './prepare.mjs'
import { runCommand } from './run-command.mjs'

const [files = '40000', seed = '1'] = process.argv.slice(2)
const words = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', 'src/checkpoints/fuzz.test.ts']

if (await prepareOrTell()) {
  const env = { ...process.env, FUZZ_FILES: files, FUZZ_SEED: seed }
  const { exitCode } = await runCommand(process.execPath, words, { cwd: ROOT, showsOutput: true, env })
  process.exitCode = exitCode
} else {
  process.exitCode = 1
}
