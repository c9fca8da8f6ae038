"use strict";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

const tip = document.getElementById("tip");

function showTip(_, event, __, value) {
  tip.hidden = value === null || value === undefined || value === "";
  if (tip.hidden) return;
  const list = document.createElement("dl");
  for (const [name, text] of Object.entries(value)) {
    list.append(
      Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: text }),
    );
  }
  tip.replaceChildren(list);
  const gap = 14;
  const left = Math.min(event.clientX + gap, innerWidth - tip.offsetWidth - gap);
  const below = event.clientY + gap;
  const top = below + tip.offsetHeight > innerHeight ? below - tip.offsetHeight - 2 * gap : below;
  tip.style.left = `${Math.max(gap, left)}px`;
  tip.style.top = `${Math.max(0, top)}px`;
}

const holders = document.querySelectorAll(".chart");
const options = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  defaultStyle: false,
  tooltip: showTip,
};
const drawn = read("charts").map((chart, i) => vegaEmbed(holders[i], chart, options));
Promise.all(drawn).then(() => {
  root.dataset.drawn = `${drawn.length}`;
});

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected"; // browsers may keep the clipboard from local files
    }
  });
}

document.getElementById("save").addEventListener("click", () => {
  const runs = read("figures");
  const text = JSON.stringify(runs[runs.length - 1], null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "analysis.json";
  link.click();
  URL.revokeObjectURL(link.href);
});
