// @ts-check
/** The models that are measured and the words that their prompts are made of. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { randomWord, SIZES, writeRandomModel } from './random-model.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Text that any vocabulary writes with about one token a word. */
const COMMON_WORDS =
  'the of and to in is was for that with on as by at from this have not are but had his they she which you one we all her would there their will when who him been has more if no out so said what up its about into than them can only other new some could time these two may then do first any my now such like our over man me even most made after also did many before must through back years where much your way well down should because each just those people how too little state good very make world still own see men work long get here between both life being under never day same another know while last might us great old year off come since against go came right used take three'.split(
    ' ',
  )

/** Trained models that are measured where their files are found, by what the names of those begin with. */
const REAL_MODELS = { 'smollm2-135m': /^smollm2-135m.*\.gguf$/i, 'gemma3-270m': /^gemma-?3-270m.*\.gguf$/i }

/** The folder in which they are looked for. */
const MODELS_FOLDER = process.env['BENCH_MODELS'] ?? ''

export const MODEL_NAMES = ['demo', ...Object.keys(SIZES), ...Object.keys(REAL_MODELS)]

/** @typedef {{ name: string, path: string, words: (random: () => number, count: number) => string }} BenchModel */

/** Those that are there. */
export function realModelNames() {
  return Object.keys(REAL_MODELS).filter((name) => realModelFile(name) !== null)
}

/** @param {string} name */
function realModelFile(name) {
  const pattern =
    Object.hasOwn(REAL_MODELS, name) && REAL_MODELS[/** @type {keyof typeof REAL_MODELS} */ (name)]
  if (!pattern || !existsSync(MODELS_FOLDER)) return null
  const file = readdirSync(MODELS_FOLDER).find((one) => pattern.test(one))
  return file === undefined ? null : path.join(MODELS_FOLDER, file)
}

/** A file, a trained model's, random weights of a size, or the bundled model as the server converts it. @param {string} sizeOrFile @returns {Promise<BenchModel>} */
export async function findModel(sizeOrFile) {
  const folder = path.join(os.tmpdir(), 'sluice-bench-models')
  mkdirSync(folder, { recursive: true })
  if (sizeOrFile in SIZES) {
    const file = path.join(folder, `random-words-${sizeOrFile}.gguf`)
    await writeRandomModel(/** @type {keyof typeof SIZES} */ (sizeOrFile), file)
    return { name: sizeOrFile, path: file, words: makeWords(randomWord) }
  }
  const words = makeWords((random) => COMMON_WORDS[Math.floor(random() * COMMON_WORDS.length)] ?? '')
  const realFile = realModelFile(sizeOrFile)
  if (realFile !== null) return { name: sizeOrFile, path: realFile, words }
  if (sizeOrFile in REAL_MODELS)
    throw new Error(
      `BENCH_MODELS must name a folder that holds a file of ${sizeOrFile}, but was '${MODELS_FOLDER}'`,
    )
  if (sizeOrFile !== 'demo') {
    if (!sizeOrFile.endsWith('.gguf'))
      throw new Error(`--size must be ${MODEL_NAMES.join(', ')} or a .gguf file`)
    return { name: path.basename(sizeOrFile, '.gguf'), path: sizeOrFile, words }
  }
  const { resolveModelFile } = await import('../dist/checkpoints/model-file.js')
  const options = { checkpoint: path.join(ROOT, 'models/demo'), modelConfig: null, tokenizer: null }
  const { model } = await resolveModelFile({ ...options, dataDir: folder })
  return { name: 'demo', path: model.path, words }
}

/** @param {(random: () => number) => string} wordOf @returns {BenchModel['words']} each word with its space before it */
function makeWords(wordOf) {
  return (random, count) => Array.from({ length: count }, () => ` ${wordOf(random)}`).join('')
}
