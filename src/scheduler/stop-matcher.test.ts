import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../test/support/length-of.ts'
import { StopMatcher } from './stop-matcher.ts'

/** What the matcher must show for a whole text: everything before the stop string that is completed first. */
function cutAtStop(text: string, stops: readonly string[]): { shown: string; stopString: string | null } {
  for (let end = 1; end <= text.length; end++) {
    const found = stops.filter((stop) => text.slice(0, end).endsWith(stop))
    if (found.length > 0) {
      const [longest = ''] = found.sort((a, b) => b.length - a.length)
      return { shown: text.slice(0, end - longest.length), stopString: longest }
    }
  }
  return { shown: text, stopString: null }
}

function feed(
  pieces: readonly string[],
  stops: readonly string[],
): { shown: string; stopString: string | null } {
  const matcher = new StopMatcher(stops)
  let shown = ''
  for (const piece of pieces) {
    const { text, stopString } = matcher.push(piece)
    shown += text
    if (stopString !== null) return { shown, stopString }
  }
  return { shown: shown + matcher.flush(), stopString: null }
}

describe('StopMatcher', () => {
  it('finds a stop string that is split across pieces and never shows its beginning', () => {
    const matcher = new StopMatcher(['STOP'])
    expect(matcher.push('one S')).toEqual({ text: 'one ', stopString: null })
    expect(matcher.push('TO')).toEqual({ text: '', stopString: null })
    expect(matcher.push('Px')).toEqual({ text: '', stopString: 'STOP' })
  })

  it('releases what was held back once it cannot become a stop string', () => {
    const matcher = new StopMatcher(['STOP'])
    expect(matcher.push('STO').text).toBe('')
    expect(matcher.push('RE').text).toBe('STORE')
  })

  it('holds back the right part when a failed match contains the beginning of another', () => {
    const matcher = new StopMatcher(['aab'])
    expect(matcher.push('aaa')).toEqual({ text: 'a', stopString: null })
    expect(matcher.push('b')).toEqual({ text: '', stopString: 'aab' })
  })

  it('looks for nothing more once the text that disarms it has come, in whatever pieces', () => {
    const matcher = new StopMatcher(['\n', 'AB'], ['[CALL]', '<call>'])
    expect(matcher.push('a<ca')).toEqual({ text: 'a<ca', stopString: null })
    const ofCopy = matcher.fork().push('\n')
    expect(matcher.push('ll>A\nB')).toEqual({ text: 'll>A\nB', stopString: null })
    expect(matcher.push('AB')).toEqual({ text: 'AB', stopString: null })
    expect(matcher.fork().push('AB').stopString).toBeNull()
    expect(ofCopy).toEqual({ text: '', stopString: '\n' })
  })

  it('gives back what it holds when it is disarmed, and finds what is complete before', () => {
    const matcher = new StopMatcher(['>x'], ['ab>'])
    expect(matcher.push('ab>')).toEqual({ text: 'ab>', stopString: null })
    expect(matcher.push('x')).toEqual({ text: 'x', stopString: null })
    expect(new StopMatcher(['b>'], ['ab>']).push('ab>')).toEqual({ text: 'a', stopString: 'b>' })
  })

  it('agrees with a search of the whole text, however it is cut into pieces', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '🙂'), maxLength: 12 })
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '🙂'), minLength: 1, maxLength: 4 }), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 8 }), stops, (pieces, stopStrings) => {
        expect(feed(pieces, stopStrings)).toEqual(cutAtStop(pieces.join(''), stopStrings))
      }),
      { numRuns: lengthOf({ test: 500, soak: 10_000 }) },
    )
  })
})
