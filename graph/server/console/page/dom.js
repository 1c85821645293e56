// Building elements. Text only ever becomes a text node, so nothing that anybody wrote can turn into markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** An HTML element: h("p", {class: "note"}, "text", otherElement). `onclick` and the like add listeners. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An SVG element. */
export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Puts new children in the place of the old ones. */
export function show(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

let names = 0;
/** A new id, for a label or a description. */
export function newId(prefix) {
  names += 1;
  return `${prefix}-${names}`;
}

/** A label with its field. */
export function field(label, control, hint) {
  const id = control.id || newId("field");
  control.id = id;
  const described = hint ? newId("hint") : null;
  if (described) control.setAttribute("aria-describedby", described);
  return h("div", { class: "field" }, h("label", { for: id }, label), control, hint && h("small", { id: described }, hint));
}

let fading = 0;
/** Says something in the status line, for eyes and for screen readers. */
export function say(text, kind = "good") {
  const status = document.getElementById("status");
  show(status, h("p", { class: kind }, text));
  clearTimeout(fading);
  fading = setTimeout(() => show(status), kind === "bad" ? 10000 : 5000);
}

/** A button that does something slow: it cannot be pressed twice, and what goes wrong is said. */
export function action(text, work, properties = {}) {
  const button = h("button", { type: "button", ...properties }, text);
  button.addEventListener("click", () => guarded(button, work));
  return button;
}

/** Runs `work` with the button held down. */
export async function guarded(button, work) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    say(error.message, "bad");
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** A form whose first button sends it; `work` gets the form. */
export function form(properties, work, ...children) {
  const element = h("form", { novalidate: false, ...properties }, ...children);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(element.querySelector("button[type=submit]"), () => work(element));
  });
  return element;
}
