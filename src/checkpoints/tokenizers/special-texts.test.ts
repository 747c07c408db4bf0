import { describe, expect, it } from 'vitest'
import { SpecialTexts } from './special-texts.ts'

const SPECIALS = new SpecialTexts(['</s>', '<|user|>', '<|', '🙂end'])

describe('SpecialTexts', () => {
  it('leaves ordinary text alone, markup included', () => {
    for (const text of ['hello', 'a < b', '<p>x</p>', '', '  spaced  ']) {
      expect(SPECIALS.breakUp(text, '#')).toBe(text)
    }
  })

  it('breaks up every special text behind its first character', () => {
    expect(SPECIALS.breakUp('a</s>b</s>', '#')).toBe('a<#/s>b<#/s>')
    expect(SPECIALS.breakUp('x🙂end', '#')).toBe('x🙂#end')
  })

  it('breaks up one that begins inside another', () => {
    expect(SPECIALS.breakUp('<</s>', '#')).toBe('<<#/s>')
    expect(SPECIALS.breakUp('<|user|>', '#')).toBe('<#|user|>')
  })

  it('cuts behind a beginning at the end, which what follows could complete', () => {
    expect(SPECIALS.breakUp('a</', '#')).toBe('a</#')
    expect(SPECIALS.breakUp('a</  \n', '#')).toBe('a</#  \n')
  })
})
