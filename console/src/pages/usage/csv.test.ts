import { expect, it } from 'vitest'
import { joinCsv } from './csv.ts'

it('keeps the names of the columns once', () => {
  expect(joinCsv(['key,name\r\n1,"a\r\nb"\r\n', 'key,name\r\n2,c\r\n', 'key,name\r\n'])).toBe(
    'key,name\r\n1,"a\r\nb"\r\n2,c\r\n',
  )
})
