import { theme, THEMES } from '../theme.ts'
import { Choices } from './parts.tsx'

const LABELS = { system: 'As the system', light: 'Light', dark: 'Dark' } as const

export function ThemeChoice() {
  return (
    <Choices
      label="Display"
      value={theme.value}
      choices={THEMES.map((one) => [one, LABELS[one]] as const)}
      onValue={(value) => (theme.value = value)}
    />
  )
}
