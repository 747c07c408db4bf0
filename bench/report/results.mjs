// @ts-check
/** The measurements of one machine, in `bench/results/NAME.json`: each scenario and model once, with all that it takes to repeat it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = fileURLToPath(new URL('../results/', import.meta.url))
const SIGNIFICANT_DIGITS = 5

/**
 * @typedef {object} Provenance what it was measured with
 * @property {string} measuredAt
 * @property {string} commit
 * @property {boolean} hasUncommittedChanges
 * @property {string} command
 * @property {string} cpu
 * @property {number} cores
 * @property {number} memoryGb
 * @property {string} os
 * @property {string} node
 * @property {string} llamaCpp the libraries' package
 * @property {string | null} peer what llama-server says it is
 * @property {string | null} gpu
 */

/**
 * @typedef {object} MeasurementHead
 * @property {string} scenario
 * @property {string} model
 * @property {Provenance} provenance
 * @property {number} threads
 */

/** @typedef {MeasurementHead & import('../scenarios/index.mjs').Measured} Measurement */
/** @typedef {{ name: string, measurements: Measurement[] }} Results */

/** @param {string} name @returns {Results} empty when nothing was measured yet */
export function readResults(name) {
  try {
    return JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return { name, measurements: [] }
    throw error
  }
}

/** Names of all that were measured. */
export function listResults() {
  mkdirSync(FOLDER, { recursive: true })
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => path.basename(file, '.json'))
    .sort()
}

/** Takes the place of an earlier one of the same scenario and model. @param {string} name @param {Measurement} measurement */
export function saveMeasurement(name, measurement) {
  const { measurements } = readResults(name)
  const isSame = (/** @type {Measurement} */ other) =>
    other.scenario === measurement.scenario && other.model === measurement.model
  const index = measurements.findIndex(isSame)
  writeResults(name, {
    name,
    measurements: measurements.toSpliced(index < 0 ? Infinity : index, 1, measurement),
  })
}

/** @param {string} name @param {object} results */
export function writeResults(name, results) {
  mkdirSync(FOLDER, { recursive: true })
  const round = (/** @type {string} */ _, /** @type {unknown} */ value) =>
    typeof value === 'number' ? Number(value.toPrecision(SIGNIFICANT_DIGITS)) : value
  writeFileSync(path.join(FOLDER, `${name}.json`), `${JSON.stringify(results, round, 2)}\n`)
}

/** @param {{ command: string, peer: string | null, gpu: string | null }} run @returns {Provenance} */
export function describeProvenance({ command, peer, gpu }) {
  const packages = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).optionalDependencies
  const [name = '', version = ''] = Object.entries(packages)[0] ?? []
  return {
    measuredAt: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD'),
    hasUncommittedChanges:
      git('status', '--porcelain', '--', 'src', 'bench', 'package-lock.json', ':!bench/results') !== '',
    command,
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: os.availableParallelism(),
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
    os: `${os.type()} ${os.arch()}`,
    node: process.versions.node,
    llamaCpp: `${name.split('/')[0]} ${version}`,
    peer,
    gpu,
  }
}

/** @param {string[]} words */
function git(...words) {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()
}
