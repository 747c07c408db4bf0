import { homedir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readHubSettings } from './hub-settings.ts'

const NO_TOKEN = { HF_TOKEN_PATH: '/no/such/token' }

describe('the settings of the Hub', () => {
  it('are those of the Hub without any', () => {
    expect(readHubSettings({ ...NO_TOKEN, HF_ENDPOINT: '', HF_HUB_CACHE: '' })).toEqual({
      endpoint: 'https://huggingface.co',
      token: null,
      cacheDir: path.join(homedir(), '.cache/huggingface/hub'),
      isOffline: false,
    })
  })

  it.each([
    [{ HF_HUB_CACHE: '/a', HUGGINGFACE_HUB_CACHE: '/b', HF_HOME: '/c' }, '/a'],
    [{ HUGGINGFACE_HUB_CACHE: '/b', HF_HOME: '/c' }, '/b'],
    [{ HF_HOME: '/c', XDG_CACHE_HOME: '/d' }, '/c/hub'],
    [{ HF_HOME: '~/c' }, path.join(homedir(), 'c/hub')],
    [{ XDG_CACHE_HOME: '/d' }, '/d/huggingface/hub'],
  ])('put the cache of %j at %s', (env, cacheDir) => {
    expect(readHubSettings({ ...NO_TOKEN, ...env }).cacheDir).toBe(cacheDir)
  })

  it('take a mirror, with a path as well', () => {
    expect(readHubSettings({ ...NO_TOKEN, HF_ENDPOINT: 'http://mirror:8/hf//' }).endpoint).toBe(
      'http://mirror:8/hf',
    )
  })

  it.each(['mirror', 'ftp://mirror', 'https://me:secret@mirror', 'https://mirror?x'])(
    'refuse %s',
    (endpoint) => {
      expect(() => readHubSettings({ ...NO_TOKEN, HF_ENDPOINT: endpoint })).toThrow(/^HF_ENDPOINT must be/)
    },
  )

  it.each([
    [{ HF_HUB_OFFLINE: '1' }, true],
    [{ HF_HUB_OFFLINE: 'TRUE' }, true],
    [{ TRANSFORMERS_OFFLINE: 'yes' }, true],
    [{ HF_HUB_OFFLINE: '0', TRANSFORMERS_OFFLINE: '1' }, false],
    [{ HF_HUB_OFFLINE: '' }, false],
  ])('are offline with %j: %s', (env, isOffline) => {
    expect(readHubSettings({ ...NO_TOKEN, ...env }).isOffline).toBe(isOffline)
  })

  it('leave the token out where it is not to be sent unasked', () => {
    const env = { HF_TOKEN: 'hf_abc', HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }
    expect(readHubSettings(env).token).toBeNull()
  })

  it('do not repeat a token that cannot be one', () => {
    const read = () => readHubSettings({ HF_TOKEN: 'hf_a\nb' })
    expect(read).toThrow(/HF_TOKEN/)
    expect(read).not.toThrow(/hf_a/)
  })
})
