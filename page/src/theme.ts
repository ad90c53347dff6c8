// Light, dark, or as the system is. A choice is kept where the browser lets a page keep anything.
export type Theme = "auto" | "light" | "dark";
const NAME = "nigari-theme";

export function savedTheme(): Theme {
  try {
    const found = localStorage.getItem(NAME);
    return found === "light" || found === "dark" ? found : "auto";
  } catch {
    return "auto";
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // A file that was opened may be denied storage; the choice lasts as long as the page.
  }
}
