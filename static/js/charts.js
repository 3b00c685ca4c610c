/* Draws figures that were finished on the server: no numbers are computed here. */
(function () {
  "use strict";
  var PRINT = {
    "--ink": "#17202b", "--plot-grid": "#e3e7ec", "--ink-faint": "#5b697a", "--line-strong": "#c2cad4",
    "--plot-band": "rgba(0, 114, 178, .10)", "--surface": "#ffffff", "--accent": "#1b5e93"
  };
  function onPage(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }
  /* The same hues, lighter, on a dark ground. */
  var ON_DARK = { "#0072B2": "#56B4E9", "#D55E00": "#F0A030", "#009E73": "#5FD1AB" };
  function isDark() { return getComputedStyle(document.documentElement).colorScheme === "dark"; }
  function traces(figure) {
    if (!isDark()) { return figure.data; }
    var text = JSON.stringify(figure.data);
    Object.keys(ON_DARK).forEach(function (light) { text = text.split(light).join(ON_DARK[light]); });
    return JSON.parse(text);
  }
  function onPaper(name) { return PRINT[name] || onPage(name); }
  function themed(layout, colour) {
    var copy = JSON.parse(JSON.stringify(layout));
    copy.plot_bgcolor = "rgba(0,0,0,0)";
    copy.font = Object.assign({}, copy.font, { color: colour("--ink"), family: onPage("--sans") });
    Object.keys(copy).forEach(function (key) {
      if (/^[xy]axis/.test(key)) {
        copy[key].gridcolor = colour("--plot-grid");
        copy[key].zerolinecolor = colour("--ink-faint");
        copy[key].linecolor = colour("--line-strong");
      }
    });
    (copy.shapes || []).forEach(function (shape) {
      if (shape.name === "band") { shape.fillcolor = colour("--plot-band"); }
      if (shape.name === "divider") { shape.line.color = colour("--plot-grid"); }
    });
    copy.hoverlabel = { bgcolor: colour("--surface"), bordercolor: colour("--line-strong"), font: { color: colour("--ink") } };
    copy.modebar = { bgcolor: "rgba(0,0,0,0)", color: colour("--ink-faint"), activecolor: colour("--accent") };
    return copy;
  }
  /* The page says the finding above the picture; a downloaded picture carries it as its title. */
  function forPage(figure) {
    var layout = themed(figure.layout, onPage);
    layout.paper_bgcolor = "rgba(0,0,0,0)";
    delete layout.title;
    return layout;
  }
  function forPaper(figure) {
    var layout = themed(figure.layout, onPaper);
    layout.paper_bgcolor = "#ffffff";
    layout.margin = Object.assign({}, layout.margin, layout.meta.paper_margin);
    layout.width = layout.meta.paper_width;
    layout.height = layout.meta.paper_height;
    return { data: figure.data, layout: layout };
  }
  function download(figure, format, name) {
    return {
      name: format, title: "Download as " + format.toUpperCase(),
      icon: format === "png" ? window.Plotly.Icons.camera : window.Plotly.Icons.disk,
      click: function () {
        var paper = forPaper(figure);
        window.Plotly.downloadImage(paper, {
          format: format, filename: name, width: paper.layout.width, height: paper.layout.height,
          scale: format === "png" ? 2 : 1
        });
      }
    };
  }
  function draw(box) {
    var source = document.getElementById(box.dataset.figure);
    if (!source || !window.Plotly) { return; }
    var figure = JSON.parse(source.textContent);
    window.Plotly.react(box, traces(figure), forPage(figure), {
      responsive: true, displaylogo: false, displayModeBar: true,
      modeBarButtons: [[download(figure, "png", box.dataset.name), download(figure, "svg", box.dataset.name)]]
    });
    if (!box.dataset.bound) {
      box.dataset.bound = "yes";
      box.on("plotly_click", function (event) {
        var target = event.points[0].customdata;
        if (typeof target === "string" && target.charAt(0) === "/") { window.location.assign(target); }
      });
    }
  }
  function drawAll() { document.querySelectorAll(".chart[data-figure]").forEach(draw); }
  document.addEventListener("DOMContentLoaded", drawAll);
  document.addEventListener("memport:theme", drawAll);
})();
