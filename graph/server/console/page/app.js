// The frame: navigation, language, sign-in, and which view the address names.

import { read, token } from "./api.js";
import { renderApprovals } from "./approvals.js";
import { renderConversations } from "./conversations.js";
import { field, form, h, say, show } from "./dom.js";
import { renderFeedback } from "./feedback.js";
import { renderMemories } from "./memories.js";
import { renderPeople } from "./people.js";
import { choose, language, t } from "./words.js";

const VIEWS = {
  conversations: renderConversations,
  approvals: renderApprovals,
  people: renderPeople,
  memories: renderMemories,
  feedback: renderFeedback,
};
const POLL = 8000;
let main = document.getElementById("main");
const dialog = document.getElementById("sign-in");
const counts = { approvals: 0, people: 0 };
let about = null;
let current = "";
let visit = 0;
let leave = () => {};

/** The view and its parameters in the address: #/conversations/THREAD/TURN. */
function address() {
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  return name in VIEWS ? [name, rest] : ["conversations", []];
}

function renderFrame() {
  const [name] = address();
  document.getElementById("skip").textContent = t("skip");
  document.title = `${t(`title.${name}`)} · Steward`;
  document.getElementById("business").textContent = about ? about.business.name : "";
  renderNav();
  show(document.getElementById("toolbar"), offlineNote(), languageSwitch(), signButton());
}

/** Made anew whenever a count changes; the focus stays where it is. */
function renderNav() {
  const [name] = address();
  const nav = document.getElementById("nav");
  const held = nav.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  show(nav, Object.keys(VIEWS).map((view) => navLink(view, name)));
  if (held) nav.querySelector(`[href="${held}"]`)?.focus();
}

function navLink(view, active) {
  const count = counts[view];
  return h(
    "a",
    { href: `#/${view}`, "aria-current": view === active ? "page" : null },
    t(`title.${view}`),
    count ? h("span", { class: "count" }, count) : null,
  );
}

const offlineNote = () =>
  about?.offline && h("span", { class: "chip quiet offline", title: t("offline.hint") }, t("offline"));

function languageSwitch() {
  const button = (name, text, title) =>
    h(
      "button",
      { type: "button", lang: name, title, "aria-pressed": String(language === name), onclick: () => switchTo(name) },
      text,
    );
  return h(
    "div",
    { class: "switch", role: "group", "aria-label": t("language") },
    button("en", "EN", "English"),
    button("zh", "中", "中文"),
  );
}

function switchTo(name) {
  choose(name);
  render();
  document.querySelector(`.switch [lang=${name}]`)?.focus();
}

function signButton() {
  if (about?.authentication !== "jwt" && !token.get()) return null;
  const text = token.get() ? t("sign.out") : t("sign.in");
  return h("button", { type: "button", class: "plain", onclick: signOut }, text);
}

function signOut() {
  token.clear();
  location.reload();
}

function askForToken(note) {
  if (dialog.open) return;
  const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const told = h("p", { class: "bad", role: "alert" }, note ?? "");
  show(
    dialog,
    form(
      { method: "dialog" },
      async () => {
        token.set(input.value.trim());
        try {
          await start();
          dialog.close();
        } catch (error) {
          token.clear();
          show(told, error.status === 403 ? t("not.staff") : error.message);
        }
      },
      h("h2", {}, t("sign.in")),
      field(t("token"), input, t("sign.hint")),
      told,
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, t("sign.in"))),
    ),
  );
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.showModal();
}

async function render() {
  const [name, rest] = address();
  const mine = ++visit;
  renderFrame();
  leave();
  leave = () => {};
  const fresh = name !== current;
  current = name;
  if (fresh) begin(); // a view that is still loading then fills nothing that is shown
  main.className = `view ${name}`;
  try {
    const end = (await VIEWS[name](main, rest, { about, fresh, count })) ?? (() => {});
    if (visit === mine) leave = end;
    else end(); // somebody has gone on while it loaded
  } catch (error) {
    if (error.status !== 401 && visit === mine) show(main, h("p", { class: "empty bad" }, error.message));
  }
}

function begin() {
  const empty = h("main", { id: "main", tabindex: "-1" });
  main.replaceWith(empty);
  main = empty;
}

/** A view tells how many wait, so that the navigation shows it at once. */
function count(name, number) {
  if (counts[name] === number) return;
  counts[name] = number;
  renderNav();
}

async function poll() {
  if (document.hidden || !about) return;
  const [approvals, people] = await Promise.all([read.approvals(), read.handovers()]);
  count("approvals", approvals.approvals.length);
  count("people", people.handovers.length);
}

async function start() {
  about = await read.about();
  await render();
  await poll();
}

window.addEventListener("hashchange", render);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("signed-out", () => about?.authentication !== "off" && askForToken());
setInterval(() => poll().catch(() => {}), POLL);
renderFrame();
start().catch((error) => {
  if (error.status === 403) askForToken(token.get() ? t("not.staff") : error.message);
  else if (error.status !== 401) say(error.message, "bad");
});
