/** Light, dark, or as the system is. Of all that the console does, only this and the playground's history outlive the page. */
import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'sluice-theme'

function stored(): Theme {
  try {
    const value = localStorage.getItem(STORAGE_KEY)
    return THEMES.find((theme) => theme === value) ?? 'system'
  } catch {
    return 'system'
  }
}

export const theme = signal<Theme>(stored())

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  try {
    localStorage.setItem(STORAGE_KEY, theme.value)
  } catch {
    // A browser that stores nothing shows the system's theme next time.
  }
})
