/** Light, dark, or as the system says. Kept in this browser. */
import { keep, kept, local } from '../stores/kept';

export const themes = ['system', 'light', 'dark'] as const;
export type ThemeName = (typeof themes)[number];

const key = 'nearcrawl.theme';

class Theme {
  name = $state<ThemeName>(remembered());

  /** Chooses and remembers. */
  choose(name: ThemeName): void {
    this.name = name;
    keep(local, key, name);
    this.apply();
  }

  /** Brings the document in line with the choice. */
  apply(): void {
    if (this.name === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = this.name;
  }
}

function remembered(): ThemeName {
  const stored = kept(local, key);
  return themes.find((name) => name === stored) ?? 'system';
}

export const theme = new Theme();
