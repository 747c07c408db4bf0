import { render } from 'preact'
import { App } from './app.tsx'
import { start } from './session.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/pages.css'
import './styles/playground.css'
import 'uplot/dist/uPlot.min.css'

const place = document.getElementById('app')
if (place !== null) render(<App />, place)
void start()
