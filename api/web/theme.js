// Light or dark: as the system, unless the reader chose. What is printed is light.

const THEME = "memplan-theme";

// `changed` takes whether maps must be drawn at once: what is printed is as it is when the handler ends.
export function setUpTheme(changed) {
  const select = document.getElementById("theme");
  const apply = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    changed(false);
  };
  select.value = localStorage.getItem(THEME) ?? select.value;
  if (!select.value) select.value = "auto";
  apply(select.value);
  select.addEventListener("change", () => {
    localStorage.setItem(THEME, select.value);
    apply(select.value);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => changed(false));
  for (const [event, isPrinted] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      document.documentElement.toggleAttribute("data-printed", isPrinted);
      changed(true);
    });
  }
}
