// @ts-check
/**
 * Makes a clone ready to run: installs the packages of the lockfile and builds dist/, each only when needed, both
 * judged by content and not by file times. Node's own modules only, because it runs before anything is installed.
 * Two of these at once wait for each other; the second finds nothing left to do.
 */
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { withLock } from './lock.mjs'
import { runCommand } from './run-command.mjs'

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

/** A reason to stop, printed as one line. */
export class PrepareError extends Error {}

/** @param {{ root?: string, rebuild?: boolean }} [options] */
export async function prepare({ root = ROOT, rebuild = false } = {}) {
  refuseOldNode()
  if (isInstalled(root) && isBuilt(root) && !rebuild) return
  await withLock(root, async () => {
    if (!isInstalled(root)) await install(root)
    if (rebuild || !isBuilt(root)) await build(root)
  })
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new PrepareError(`Node 20.19 or newer is needed, but this is ${process.versions.node}.`)
}

/** @param {string} root */
const installStampPath = (root) => path.join(root, 'node_modules', '.sluice-lockfile')

/**
 * Either `install` below ran with this very lockfile, or every package the lockfile asks for on this machine is
 * there in its version, however it came.
 * @param {string} root
 */
export function isInstalled(root) {
  const lockfile = readIfThere(path.join(root, 'package-lock.json'))
  const installed = readIfThere(path.join(root, 'node_modules', '.package-lock.json'))
  if (lockfile === null || installed === null) return false
  if (readIfThere(installStampPath(root)) === hash(lockfile)) return true
  /** @type {Record<string, { version?: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }>} */
  const wanted = JSON.parse(lockfile).packages
  const present = JSON.parse(installed).packages
  return Object.entries(wanted).every(
    ([name, entry]) => name === '' || present[name]?.version === entry.version || !isForThisMachine(entry),
  )
}

/**
 * Optional packages count only where they name this machine. Those without a machine belong to others that may have
 * been left out, and which C library this is cannot be found out cheaply.
 * @param {{ optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} entry
 */
function isForThisMachine({ optional, os, cpu, libc }) {
  if (!optional) return true
  return libc === undefined && !!os?.includes(process.platform) && !!cpu?.includes(process.arch)
}

/**
 * Without a network, npm's own pauses between its attempts add up to more than a minute. `npm publish --dry-run` hands its
 * option to the npm commands of its scripts, which would then install nothing.
 */
const NPM_SETTINGS = [
  '--fetch-retry-maxtimeout=5000',
  '--fetch-retry-mintimeout=1000',
  '--loglevel=error',
  '--dry-run=false',
]

/** @param {string} root */
async function install(root) {
  tell('installing packages (once)...')
  // Development packages hold the compiler: they are needed under NODE_ENV=production too.
  const { exitCode, output } = await runNpm(root, [
    'ci',
    '--include=dev',
    '--prefer-offline',
    ...NPM_SETTINGS,
  ])
  if (exitCode !== 0) {
    const reason =
      /^npm error (?!(?:code|syscall|errno|type) )(.+)$/m.exec(output)?.[1] ??
      `npm ci ended with exit code ${exitCode}`
    throw new PrepareError(
      `the packages could not be installed; is the network reachable? (${reason.trim()})`,
    )
  }
  await installLibraries(root)
  writeFileSync(installStampPath(root), hash(readFileSync(path.join(root, 'package-lock.json'), 'utf8')))
}

/**
 * Packages of llama.cpp's libraries by machine. Those of linux-x64 are a dependency; these cannot be, because npm would bring
 * them to x64 too: the package of linux-arm64 names both processors.
 * @type {Readonly<Record<string, string>>}
 */
const LIBRARIES = { 'linux-arm64': 'linux-arm64', 'darwin-arm64': 'mac-arm64-metal' }

/** Without them the program runs, with models of other servers alone, and says what is missing. @param {string} root */
async function installLibraries(root) {
  const name = LIBRARIES[`${process.platform}-${process.arch}`]
  if (name === undefined) return
  const version = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).optionalDependencies[
    '@node-llama-cpp/linux-x64'
  ]
  const spec = `@node-llama-cpp/${name}@${version}`
  const { exitCode } = await runNpm(root, ['install', '--no-save', spec, ...NPM_SETTINGS])
  if (exitCode !== 0) tell(`warning: the libraries of llama.cpp could not be installed: npm install ${spec}`)
}

/** @param {string} root @param {string[]} words */
function runNpm(root, words) {
  const npmScript = process.env.npm_execpath
  if (npmScript?.endsWith('.js')) return runCommand(process.execPath, [npmScript, ...words], { cwd: root })
  return runCommand('npm', words, { cwd: root, shell: process.platform === 'win32' })
}

/** @param {string} root */
const buildStampPath = (root) => path.join(root, 'dist', '.sources')

/** @param {string} root */
export function isBuilt(root) {
  return readIfThere(buildStampPath(root)) === hashSources(root)
}

/**
 * Compiles beside dist/ and swaps, so that a failed build leaves the old one and a running server is not disturbed.
 * @param {string} root
 */
async function build(root) {
  tell('building...')
  const sources = hashSources(root)
  const scratch = path.join(root, 'node_modules', '.sluice-build')
  rmSync(scratch, { recursive: true, force: true })
  const fresh = path.join(scratch, 'dist')
  await buildProgram(root, fresh)
  await buildConsole(root, path.join(fresh, 'console'))
  writeFileSync(path.join(fresh, '.sources'), sources)
  const dist = path.join(root, 'dist')
  if (existsSync(dist)) renameSync(dist, path.join(scratch, 'old'))
  renameSync(fresh, dist)
  rmSync(scratch, { recursive: true, force: true })
}

/** @param {string} root @param {string} to */
async function buildProgram(root, to) {
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // Its threads each check the same libraries again: with one the build takes half the work, and no more time on two cores.
  const words = [compiler, '--singleThreaded', '-p', 'tsconfig.build.json', '--outDir', to]
  const { exitCode, output } = await runCommand(process.execPath, words, { cwd: root })
  if (exitCode !== 0) throw new PrepareError(`the build failed:\n${output.trim()}`)
  copyDataFiles(path.join(root, 'src'), to)
  const bundled = await runCommand(process.execPath, [path.join('tools', 'bundle.mjs'), to], { cwd: root })
  if (bundled.exitCode !== 0) throw new PrepareError(`the program was not joined:\n${bundled.output.trim()}`)
}

/** The console's JavaScript as a browser loads all of it: what is above slows a phone down. */
const MAX_CONSOLE_SCRIPT_BYTES = 120_000

/** @param {string} root @param {string} to */
async function buildConsole(root, to) {
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const words = [vite, 'build', 'console', '--config', 'console/vite.config.mjs', '--outDir', to]
  // Preact's checks of development would otherwise be built in where the environment asks for them.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { exitCode, output } = await runCommand(process.execPath, words, { cwd: root, env })
  if (exitCode !== 0) throw new PrepareError(`the console was not built:\n${output.trim()}`)
  const scripts = filesUnder(to).filter((file) => file.endsWith('.js'))
  const bytes = scripts.reduce((sum, file) => sum + gzipSync(readFileSync(path.join(to, file))).length, 0)
  if (bytes <= MAX_CONSOLE_SCRIPT_BYTES) return
  throw new PrepareError(
    `the console's scripts are ${bytes} bytes, gzipped, and may be ${MAX_CONSOLE_SCRIPT_BYTES}`,
  )
}

/** Files that the compiler leaves alone. @param {string} from @param {string} to */
function copyDataFiles(from, to) {
  for (const file of filesUnder(from).filter((name) => !name.endsWith('.ts'))) {
    mkdirSync(path.dirname(path.join(to, file)), { recursive: true })
    cpSync(path.join(from, file), path.join(to, file))
  }
}

/** Everything the build depends on. @param {string} root */
function hashSources(root) {
  const sources = filesUnder(path.join(root, 'src'))
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => path.join('src', file))
  const page = filesUnder(path.join(root, 'console'))
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => path.join('console', file))
  const settings = [
    'tsconfig.json',
    'tsconfig.build.json',
    path.join('node_modules', 'typescript', 'package.json'),
    path.join('node_modules', 'vite', 'package.json'),
    path.join('node_modules', 'rolldown', 'package.json'),
    path.join('tools', 'bundle.mjs'),
  ]
  return hash(
    [...sources, ...page, ...settings]
      .map((file) => `${file}\0${readIfThere(path.join(root, file))}\0`)
      .join(''),
  )
}

/** @param {string} folder */
function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort()
}

/** @param {string} text */
function hash(text) {
  return createHash('sha256').update(text).digest('hex')
}

/** @param {string} file */
function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** @param {string} sentence */
function tell(sentence) {
  process.stderr.write(`sluice: ${sentence}\n`)
}

/** For scripts: true when ready, otherwise prints one line and sets the exit code. @param {{ rebuild?: boolean }} [options] */
export async function prepareOrTell(options) {
  try {
    await prepare(options)
    return true
  } catch (error) {
    tell(error instanceof PrepareError ? error.message : `getting ready failed: ${String(error)}`)
    process.exitCode = 1
    return false
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await prepareOrTell({ rebuild: process.argv.includes('--rebuild') })
}
