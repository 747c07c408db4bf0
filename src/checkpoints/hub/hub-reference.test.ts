import { describe, expect, it } from 'vitest'
import { checkpointName, isHubReference, parseHubReference } from './hub-reference.ts'

describe('a reference to the Hub', () => {
  it.each([
    ['hf:acme/tiny', 'acme/tiny', 'main', null, 'tiny'],
    ['hf:gpt2', 'gpt2', 'main', null, 'gpt2'],
    ['hf:acme/Tiny-1.1B_x@refs/pr/1', 'acme/Tiny-1.1B_x', 'refs/pr/1', null, 'Tiny-1.1B_x'],
    ['hf:acme/tiny:a/b-Q4_0.gguf', 'acme/tiny', 'main', 'a/b-Q4_0.gguf', 'b-Q4_0'],
    ['hf:acme/tiny@v1:b-00001-of-00003.gguf', 'acme/tiny', 'v1', 'b-00001-of-00003.gguf', 'b'],
  ])('%s', (...[text, repo, revision, file, name]) => {
    expect(isHubReference(text)).toBe(true)
    expect(parseHubReference(text)).toEqual({ repo, revision, file })
    expect(checkpointName(text)).toBe(name)
  })

  it.each([
    'hf:',
    'hf:a/b/c',
    'hf:../b',
    'hf:a/..',
    'hf:a/b@',
    'hf:a/b@../x',
    'hf:a/b:',
    'hf:a/b:../c.gguf',
    'hf:a/b:/c.gguf',
    'hf:a/b:c\\d.gguf',
    'hf:a/b:c\nd.gguf',
    'hf:a b/c',
    `hf:a/b:${'x'.repeat(2000)}.gguf`,
  ])('is not %j', (text) => {
    expect(() => parseHubReference(text)).toThrow(/names no model of the Hub; write hf:org\/repo/)
  })

  it.each([
    ['hf://acme/tiny', 'hf:acme/tiny'],
    ['hf: acme/tiny', 'hf:acme/tiny'],
    ['hf:acme/tiny/q/tiny.gguf', 'hf:acme/tiny:q/tiny.gguf'],
    ['hf:https://huggingface.co/acme/tiny/tree/v2', 'hf:acme/tiny@v2'],
    ['hf:hf.co/acme/tiny:Q4_K_M', 'hf:acme/tiny'],
  ])('is not %s, which is answered with what was meant', (text, meant) => {
    expect(() => parseHubReference(text)).toThrow(`'${text}' names no model of the Hub; write ${meant}.`)
  })

  it('is not taken for a path', () => {
    expect(isHubReference('./hf:x')).toBe(false)
    expect(isHubReference('models/demo')).toBe(false)
  })
})
