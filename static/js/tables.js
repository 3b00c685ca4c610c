/* Sorts tables where no server does: a report in a file, a page that was posted.
   The heads become buttons; what is undefined stays last; without this script the table reads as it is. */
(function () {
  "use strict";
  function keyOf(row, column) {
    var cell = row.cells[column];
    if (!cell || cell.hasAttribute("data-none")) { return null; }
    if (cell.dataset.number !== undefined) { return Number(cell.dataset.number); }
    var text = cell.dataset.text !== undefined ? cell.dataset.text : cell.textContent;
    return text.trim().toLowerCase();
  }
  function compare(a, b) {
    if (typeof a !== typeof b) { return typeof a === "number" ? -1 : 1; }
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function sort(table, head) {
    var down = head.getAttribute("aria-sort") === "ascending";
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row) {
      return { row: row, key: keyOf(row, head.cellIndex) };
    });
    var known = rows.filter(function (one) { return one.key !== null; });
    var blank = rows.filter(function (one) { return one.key === null; });
    known.sort(function (a, b) { return down ? compare(b.key, a.key) : compare(a.key, b.key); });
    known.concat(blank).forEach(function (one) { body.appendChild(one.row); });
    table.querySelectorAll("thead th").forEach(function (other) {
      other.removeAttribute("aria-sort");
      other.querySelector(".arrow").textContent = "";
    });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    head.querySelector(".arrow").textContent = down ? " ▼" : " ▲";
  }
  function prepare(table) {
    table.querySelectorAll("thead th").forEach(function (head) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      while (head.firstChild) { button.appendChild(head.firstChild); }
      var arrow = document.createElement("span");
      arrow.className = "arrow";
      arrow.setAttribute("aria-hidden", "true");
      button.appendChild(arrow);
      head.appendChild(button);
      button.addEventListener("click", function () { sort(table, head); });
    });
  }
  function start() { document.querySelectorAll("table[data-sorts]").forEach(prepare); }
  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", start); } else { start(); }
})();
