// @ts-check
/**
 * `npm run bench:prompt-guard`: what the prompt guard catches and what it refuses by mistake, on the data set
 * in `test/data/prompt-guard`, and what a kilobyte costs. Every prompt is scanned as a message of a chat.
 *
 *   npm run bench:prompt-guard -- [--misses]   also shows what the tuning half gets wrong
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { PromptScanner } from '../dist/guards/prompt/prompt-scanner.js'

const { values } = parseArgs({ options: { misses: { type: 'boolean', default: false } } })

/** @typedef {{ id: string, label: string, category: string, language: string, text: string }} Row */

/** @param {string} name @returns {Row[]} */
function readRows(name) {
  const file = new URL(`../test/data/prompt-guard/${name}.jsonl`, import.meta.url)
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

const scanner = new PromptScanner()
const OPTIONS = { isChat: true, ownMarkers: new Set() }

/** @param {Row} row */
const isRefused = ({ text }) => scanner.scan(text, OPTIONS).rule !== null

/** @param {number} part @param {number} whole */
const percent = (part, whole) => `${((100 * part) / whole).toFixed(2)} %`

for (const half of ['tuning', 'held-back', 'development', 'unseen']) {
  const attacks = readRows(`${half}-attacks`)
  const harmless = readRows(`${half}-harmless`)
  const caught = attacks.filter(isRefused).length
  const mistaken = harmless.filter(isRefused).length
  console.log(`\n${half}: ${attacks.length} attacks, ${harmless.length} harmless prompts`)
  console.log(`  precision ${percent(caught, caught + mistaken)}`)
  console.log(`  recall ${percent(caught, attacks.length)} (${caught} caught)`)
  console.log(`  refused by mistake ${percent(mistaken, harmless.length)} (${mistaken})`)
  // Of these not even the categories are shown.
  if (half === 'development' || half === 'unseen') continue
  for (const rows of [attacks, harmless]) {
    const categories = [...new Set(rows.map(({ category }) => category))]
    for (const category of categories) {
      const ofCategory = rows.filter((row) => row.category === category)
      const refused = ofCategory.filter(isRefused).length
      console.log(`    ${rows[0]?.label} ${category}: ${refused} of ${ofCategory.length} refused`)
    }
  }
  // What it measures by is not read, or it would be tuned for.
  if (!values.misses || half !== 'tuning') continue
  for (const row of [...attacks, ...harmless]) {
    if (isRefused(row) !== (row.label === 'attack')) console.log(`  ${row.id}: ${JSON.stringify(row.text)}`)
  }
}

const KILOBYTE = 1024
const ROUNDS = 50
const text = readRows('held-back-harmless')
  .map((row) => row.text)
  .join('\n')
const pieces = Array.from({ length: 200 }, (_, i) => text.slice(i * KILOBYTE, (i + 1) * KILOBYTE))
const scanAll = () => {
  for (const piece of pieces) scanner.scan(piece, OPTIONS)
}
for (let i = 0; i < ROUNDS / 5; i++) scanAll()
const cpu = process.cpuUsage()
const startMs = performance.now()
for (let i = 0; i < ROUNDS; i++) scanAll()
const perPiece = 1000 / (ROUNDS * pieces.length)
const { user, system } = process.cpuUsage(cpu)
console.log(
  `\na kilobyte of harmless text: ${((performance.now() - startMs) * perPiece).toFixed(1)} µs, ` +
    `${(((user + system) * perPiece) / 1000).toFixed(1)} µs of processor time`,
)
