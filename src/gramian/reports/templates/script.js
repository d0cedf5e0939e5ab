"use strict";
(() => {
  const root = document.documentElement;
  const specs = new Map();
  document.querySelectorAll('script[type="application/json"][data-for]').forEach((element) => {
    specs.set(element.dataset.for, JSON.parse(element.textContent));
  });

  // Colours that change with the theme stand in the pictures as "var(--ink)" and so on, as in the style.
  const named = /^var\((--[a-z]+)\)$/;
  const resolved = (value, colours) => {
    if (typeof value === "string") return named.test(value) ? colours.getPropertyValue(named.exec(value)[1]).trim() || value : value;
    if (Array.isArray(value)) return value.map((part) => resolved(part, colours));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolved(part, colours)]));
    }
    return value;
  };

  const draw = () => {
    if (typeof Plotly === "undefined") return;
    const colours = getComputedStyle(root);
    const narrow = window.innerWidth < 640;
    specs.forEach((spec, id) => {
      const { data, layout, narrow: instead } = resolved(spec, colours);
      const place = document.getElementById(id);
      if (narrow) {
        Object.assign(layout, instead);
        layout.margin = { ...layout.margin, l: Math.min(layout.margin.l, 50), r: 10 };
        layout.dragmode = false; // a finger that scrolls the page must not zoom the picture
        if ("square" in place.dataset) place.style.height = `${place.clientWidth + 30}px`;
      }
      Plotly.react(id, data, layout, { displayModeBar: false, responsive: true, scrollZoom: false });
    });
  };

  const button = document.getElementById("theme");
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wish.matches);
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); draw(); });
  wish.addEventListener("change", () => { name(); draw(); });
  matchMedia("print").addEventListener("change", draw);
  addEventListener("afterprint", draw);

  document.querySelectorAll("button.save").forEach((save) => {
    save.hidden = typeof Plotly === "undefined";
    save.addEventListener("click", () => Plotly.downloadImage(save.dataset.for, { format: "svg", filename: save.dataset.name }));
  });
  name();
  draw();
})();
