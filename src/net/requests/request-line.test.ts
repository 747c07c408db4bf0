import { expect, it } from 'vitest'
import { readRequestLine } from './request-line.ts'

it.each([
  ['BREW /pot HTTP/1.1\r\nhost: x\r\n', { method: 'BREW', path: '/pot' }],
  ['M-X / HTTP/1.0\n', { method: 'M-X', path: '/' }],
  [`BREW /${'a'.repeat(300)} HTTP/1.1\r\n`, { method: 'BREW', path: `/${'a'.repeat(199)}` }],
  ['BREW /pot HTTP/1.1', null],
  ['BREW /pot HTTP/2\r\n', null],
  ['BREW /pot of tea HTTP/1.1\r\n', null],
  ['BREW  HTTP/1.1\r\n', null],
  ['brew /pot HTTP/1.1\r\n', null],
  [' /pot HTTP/1.1\r\n', null],
  ['HTTP/1.1\r\n', null],
  [' HTTP/1.1\r\n', null],
  ['\n', null],
  ['', null],
  [`${'X'.repeat(1000)} / HTTP/1.1\r\n`, null],
])('%j', (text, line) => {
  expect(readRequestLine(text)).toEqual(line)
})
