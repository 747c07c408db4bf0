/**
 * Writes src/engines/llamacpp/layouts.json: the true layout of every llama.cpp struct the engine passes by value.
 * Run by hand when the pinned version of `@node-llama-cpp/*` changes (see README.md); a unit test compares the file
 * with what the engine tells koffi.
 *
 *   node tools/llama-layouts/generate.mjs <llama.cpp tree>
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const toolFolder = path.dirname(fileURLToPath(import.meta.url))
const outputPath = path.join(toolFolder, '../../src/engines/llamacpp/layouts.json')

/**
 * What `llama_version()` says in the prebuilt libraries: they are built as development builds of the release.
 * @param {string} treePath
 */
function readLlamaVersion(treePath) {
  const text = readFileSync(path.join(treePath, 'CMakeLists.txt'), 'utf8')
  const parts = ['MAJOR', 'MINOR', 'PATCH'].map((part) => {
    const match = new RegExp(`set\\(LLAMA_VERSION_${part}\\s+(\\d+)\\)`).exec(text)
    if (match === null) throw new Error(`CMakeLists.txt of ${treePath} has no LLAMA_VERSION_${part}.`)
    return match[1]
  })
  return `${parts.join('.')}-dev`
}

/** @param {string} treePath */
function printLayouts(treePath) {
  const workFolder = mkdtempSync(path.join(os.tmpdir(), 'llama-layouts-'))
  try {
    const program = path.join(workFolder, 'print-layouts')
    execFileSync(
      'cc',
      [
        `-DSLUICE_LLAMA_VERSION="${readLlamaVersion(treePath)}"`,
        `-I${path.join(treePath, 'include')}`,
        `-I${path.join(treePath, 'ggml/include')}`,
        '-o',
        program,
        path.join(toolFolder, 'print-layouts.c'),
      ],
      { stdio: 'inherit' },
    )
    return execFileSync(program, { encoding: 'utf8' })
  } finally {
    rmSync(workFolder, { recursive: true })
  }
}

const treePath = process.argv[2]
if (treePath === undefined) {
  console.error('Usage: node tools/llama-layouts/generate.mjs <llama.cpp tree>')
  process.exit(2)
}
writeFileSync(outputPath, printLayouts(treePath))
