import { describe, expect, it } from 'vitest'
import { makePrompts } from './grammar.mjs'

describe('makePrompts', () => {
  it('makes the same prompts every time, with every symbol expanded, in each language', () => {
    const prompts = makePrompts(() => 30)
    expect(makePrompts(() => 30)).toEqual(prompts)
    expect(new Set(prompts.map(({ language }) => language)).size).toBe(9)
    for (const label of ['attack', 'harmless']) {
      const ofLabel = prompts.filter((prompt) => prompt.label === label)
      expect(ofLabel.length).toBe(9 * 30)
      expect(new Set(ofLabel.map(({ language, text }) => language + text)).size).toBe(9 * 30)
    }
    expect(prompts.filter(({ text }) => /\{[A-Z]+\w*\}/.test(text))).toEqual([])
  })
})
