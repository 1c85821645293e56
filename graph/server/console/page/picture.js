// The graph as it runs, with the way that a turn took.

import { svg } from "./dom.js";
import { named, t } from "./words.js";

const INCH = 72;
const BOX = 0.42;
const SPARE = 0.25;
const px = (length) => Math.round(length * INCH * 100) / 100;

/** An SVG of the graph; `way` is the turn's. */
export function picture(graph, way) {
  const taken = new Set(way.taken.map(([from, to]) => `${from} ${to}`));
  const visits = visited(way);
  const last = way.steps.at(-1);
  const order = (curve) => (taken.has(`${curve.source} ${curve.target}`) ? 1 : 0);
  const curves = [...graph.curves].sort((a, b) => order(a) - order(b));
  const told = way.steps.flatMap((step) => step.nodes).join(", ");
  return svg(
    "svg",
    {
      class: "graph",
      viewBox: [graph.left + SPARE, graph.top + SPARE / 2, graph.width - 2 * SPARE, graph.height - SPARE].map(px).join(" "),
      role: "img",
      "aria-label": t("way.alt", { steps: told }),
    },
    svg("defs", {}, arrow("plain"), arrow("taken")),
    curves.map((curve) => edge(curve, order(curve) === 1)),
    graph.boxes.map((box) => node(box, visits.get(box.name), last, taken)),
    curves.filter((curve) => curve.label).map((curve) => label(curve, order(curve) === 1)),
  );
}

function visited(way) {
  const visits = new Map();
  way.steps.forEach((step, place) =>
    step.nodes.forEach((name) => visits.set(name, [...(visits.get(name) ?? []), place + 1])),
  );
  return visits;
}

function arrow(kind) {
  return svg(
    "marker",
    { id: `arrow-${kind}`, class: `arrow ${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" },
    svg("path", { d: "M0 0.6 8 4 0 7.4Z" }),
  );
}

function edge(curve, isTaken) {
  const [start, ...rest] = curve.points.map(([x, y]) => `${px(x)} ${px(y)}`);
  const kind = isTaken ? "taken" : "plain";
  return svg("path", { class: `edge ${kind}`, d: `M${start} C${rest.join(" ")}`, "marker-end": `url(#arrow-${kind})` });
}

function label(curve, isTaken) {
  const [x, y] = curve.label_at;
  const loop = curve.source === curve.target;
  return svg(
    "text",
    { class: `label${isTaken ? " taken" : ""}`, x: px(x), y: px(y), dy: "0.35em", "text-anchor": loop ? "start" : "middle" },
    curve.label,
  );
}

function node(box, visits, last, taken) {
  const waits = last?.nodes.includes(box.name) && last.asked && last.seconds === null;
  const reached = visits || (box.outer && [...taken].some((ends) => ends.split(" ").includes(box.name)));
  const [x, y, width, height] = [box.x - box.width / 2, box.y - BOX / 2, box.width, BOX].map(px);
  const text = visits ? visits.join(" · ") : "";
  return svg(
    "g",
    { class: `node${reached ? " taken" : ""}${waits ? " waits" : ""}` },
    svg("title", {}, `${box.title}: ${named("node", box.name)}`),
    svg("rect", { x, y, width, height, rx: box.outer ? height / 2 : 7 }),
    svg("text", { x: px(box.x), y: px(box.y), dy: "0.35em", "text-anchor": "middle" }, box.title),
    text && badge(x, y, text),
  );
}

/** Which steps ran the node. */
function badge(x, y, text) {
  const width = 11 + text.length * 5.4;
  return svg(
    "g",
    { class: "badge" },
    svg("rect", { x: x - 7, y: y - 9, width, height: 17, rx: 8.5 }),
    svg("text", { x: x - 7 + width / 2, y, dy: "0.32em", "text-anchor": "middle" }, text),
  );
}
