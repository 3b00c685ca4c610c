/* Light, dark, or as the system has it. Runs before the page is drawn, so that nothing flashes. */
(function () {
  "use strict";
  var root = document.documentElement;
  function stored() {
    try { return localStorage.getItem("memport-theme"); } catch (error) { return null; }
  }
  function dark() {
    if (root.dataset.theme) { return root.dataset.theme === "dark"; }
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  }
  root.dataset.js = "yes";
  var kept = stored();
  if (kept === "light" || kept === "dark") { root.dataset.theme = kept; }
  function announce() { document.dispatchEvent(new CustomEvent("memport:theme")); }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme-toggle");
    if (!button) { return; }
    button.hidden = false;
    button.setAttribute("aria-pressed", String(dark()));
    button.addEventListener("click", function () {
      root.dataset.theme = dark() ? "light" : "dark";
      button.setAttribute("aria-pressed", String(dark()));
      try { localStorage.setItem("memport-theme", root.dataset.theme); } catch (error) { /* private window */ }
      announce();
    });
  });
})();
