// Runs before anything is shown, so that a dark page never flashes white.
"use strict";

const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;

function applyTheme(printing) {
  const wanted = chosen ?? (prefersDark.matches ? "dark" : "light");
  root.dataset.theme = printing ? "light" : wanted;
}

applyTheme(false);
prefersDark.addEventListener("change", () => applyTheme(false));
// Paper is white whatever the screen is.
matchMedia("print").addEventListener("change", (event) => applyTheme(event.matches));
addEventListener("beforeprint", () => applyTheme(true));
addEventListener("afterprint", () => applyTheme(false));
addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    applyTheme(false);
  });
});
