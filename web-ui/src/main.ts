import '@fontsource-variable/inter/wght.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/layout.css';
import './styles/table.css';
import './styles/heat.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { theme } from './theme/theme.svelte';

theme.apply();

const target = document.getElementById('app');
if (target) mount(App, { target });
