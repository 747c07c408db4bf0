import { describe, expect, it } from 'vitest'
import { OwnHosts } from './own-hosts.ts'

describe('OwnHosts', () => {
  const hosts = new OwnHosts(['box.lan', '192.168.1.5', 'FD00::5'])

  it.each([
    undefined,
    '',
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    '127.0.0.1:8080',
    '127.9.8.7',
    '[::1]:8080',
    '[::1]',
    'box.lan',
    'Box.LAN:80',
    'box.lan.:80',
    '192.168.1.5:8080',
    '[fd00::5]:1',
  ])('answers to %s', (host) => {
    expect(hosts.includes(host)).toBe(true)
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    'evil.localhost.example:8080',
    '127.0.0.1.evil.example',
    '127.evil.example',
    'box.lan.evil.example',
    'evil.example:box.lan',
    '192.168.1.6',
    '0.0.0.0:8080',
    '[::2]',
    '[::1]evil',
    'user@localhost:8080x',
    ' ',
    ',',
  ])('does not answer to %s', (host) => {
    expect(hosts.includes(host)).toBe(false)
  })

  it.each([
    'http://localhost:3000',
    'https://box.lan',
    'http://[::1]:5173',
    'http://127.0.0.1',
    'tauri://localhost',
  ])('takes %s for an origin of its own', (origin) => {
    expect(hosts.includesOrigin(origin)).toBe(true)
  })

  it.each([
    'null',
    '',
    'http://evil.example',
    'http://localhost.evil.example',
    'http://evil.example#localhost',
    'localhost',
  ])('takes %s for an origin of others', (origin) => {
    expect(hosts.includesOrigin(origin)).toBe(false)
  })
})
