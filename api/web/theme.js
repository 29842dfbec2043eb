// Light or dark: as the system, unless the reader chose.

const THEME = "memplan-theme";

export function setUpTheme(changed) {
  const select = document.getElementById("theme");
  const apply = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    changed();
  };
  select.value = localStorage.getItem(THEME) ?? select.value;
  if (!select.value) select.value = "auto";
  apply(select.value);
  select.addEventListener("change", () => {
    localStorage.setItem(THEME, select.value);
    apply(select.value);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
