// @ts-check
/**
 * Makes training prompts from the grammars beside this file, one for each language. A line is a symbol with its alternatives,
 * `NAME = one {OTHER} | two`; symbols that begin with `A_` are attacks, those with `H_` harmless. Always the same prompts.
 */
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('grammars/', import.meta.url)
const MAX_DEPTH = 8

/** @typedef {{ label: string, family: string, language: string, text: string }} MadePrompt */

/** @param {(language: string) => number} countFor prompts of each label @returns {MadePrompt[]} */
export function makePrompts(countFor) {
  const random = createRandom(7)
  return readdirSync(FOLDER).flatMap((file) => {
    const language = file.replace('.txt', '')
    const symbols = readGrammar(readFileSync(new URL(file, FOLDER), 'utf8'))
    return ['attack', 'harmless'].flatMap((label) => {
      const starts = [...symbols.keys()].filter((name) => name.startsWith(label === 'attack' ? 'A_' : 'H_'))
      /** @type {Map<string, MadePrompt>} */
      const made = new Map()
      for (let i = 0; i < 3 * countFor(language) && made.size < countFor(language); i++) {
        const start = starts[i % starts.length] ?? ''
        const text = vary(expand(symbols, `{${start}}`, random), { language, random })
        made.set(text, { label, family: start, language, text })
      }
      return [...made.values()]
    })
  })
}

/** @param {string} text */
function readGrammar(text) {
  const lines = text.split('\n').map((line) => /^(\w+) = (.*)$/.exec(line))
  return new Map(
    lines.flatMap((match) => {
      const [, name = '', alternatives = ''] = match ?? []
      return match === null
        ? []
        : [[name, alternatives.split(' | ').map((part) => part.replace(/\|\s*$/, '').trim())]]
    }),
  )
}

/** @param {ReadonlyMap<string, string[]>} symbols @param {string} text @param {() => number} random @returns {string} */
function expand(symbols, text, random, depth = 0) {
  return text.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const alternatives = symbols.get(name)
    if (alternatives === undefined) throw new Error(`no symbol ${name}`)
    if (depth > MAX_DEPTH) return ''
    return expand(symbols, alternatives[Math.floor(random() * alternatives.length)] ?? '', random, depth + 1)
  })
}

/** @param {string} text @param {{ language: string, random: () => number }} options */
function vary(text, { language, random }) {
  let varied = text
    .replaceAll('\\n', '\n')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ ([,.!?])/g, '$1')
  varied = varied.replaceAll(/\.\s*\./g, '.').trim()
  if (language === 'zh' || language === 'ja') return varied.replaceAll(' ', '')
  if (random() < 0.5) varied = varied.charAt(0).toUpperCase() + varied.slice(1)
  if (random() < 0.15) varied = varied.toLowerCase()
  return random() < 0.2 ? varied.replace(/[.?]$/, '') : varied
}

/** @param {number} seed */
export function createRandom(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}
