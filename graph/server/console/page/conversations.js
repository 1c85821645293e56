// Conversations: the list, the one that is open, and the turn that is looked at, side by side where there is room.

import { read } from "./api.js";
import { action, h, show } from "./dom.js";
import { renderThread } from "./thread.js";
import { renderTurn } from "./turn.js";
import { fullMoment, language, moment, t } from "./words.js";

const REFRESH = 8000;
let words = "";
let panes = null;

/** `rest` is [thread, turn]; either may be missing. */
export async function renderConversations(main, rest, frame) {
  const [thread, turn] = rest;
  main.dataset.depth = String(rest.filter(Boolean).length);
  if (frame.fresh || !panes || !main.contains(panes.list)) panes = build(main);
  panes.intents = frame.about?.intents ?? {};
  translate(panes);
  const listing = refreshList(panes, thread);
  const leaveThread = await openThread(panes, thread, turn, frame);
  await openTurn(panes, thread, turn);
  await listing;
  const timer = setInterval(() => !document.hidden && refreshList(panes, thread).catch(() => {}), REFRESH);
  return () => {
    clearInterval(timer);
    leaveThread();
  };
}

function build(main) {
  const found = {
    search: h("input", { type: "search", id: "search", value: words, autocomplete: "off" }),
    list: h("ul", { class: "list" }),
    more: h("div", { class: "more" }),
    thread: h("section", { class: "pane thread" }),
    turn: h("section", { class: "pane turn" }),
    label: h("label", { for: "search", class: "hidden" }),
    side: h("section", { class: "pane side" }),
  };
  let waiting = 0;
  found.search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      words = found.search.value.trim();
      refreshList(found, address());
    }, 250);
  });
  found.side.append(h("div", { class: "searching" }, found.label, found.search), found.list, found.more);
  show(main, found.side, found.thread, found.turn);
  return found;
}

const address = () => decodeURIComponent(location.hash.split("/")[2] ?? "");

function translate(found) {
  found.label.textContent = t("search");
  found.search.placeholder = t("search.hint");
  found.side.setAttribute("aria-label", t("title.conversations"));
  found.thread.setAttribute("aria-label", t("thread"));
  found.turn.setAttribute("aria-label", t("turn"));
}

async function refreshList(found, thread) {
  const asked = words;
  const { conversations } = await read.conversations(asked);
  if (asked !== words) return;
  const signature = JSON.stringify([conversations, thread, document.documentElement.lang]);
  if (found.signature === signature) return;
  found.signature = signature;
  const lines = conversations.map((one) => line(one, thread, found.intents));
  const focused = document.activeElement?.dataset?.thread;
  show(found.list, lines.length ? lines : h("li", { class: "empty" }, t("no.conversations")));
  if (focused) found.list.querySelector(`[data-thread="${CSS.escape(focused)}"]`)?.focus();
  offerMore(found, conversations, thread);
}

function offerMore(found, conversations, thread) {
  if (conversations.length < 30) return show(found.more);
  const last = conversations.at(-1).checkpoint_id;
  const load = async () => {
    const next = (await read.conversations(words, last)).conversations;
    found.list.append(...next.map((one) => line(one, thread, found.intents)));
    offerMore(found, next, thread);
  };
  return show(found.more, action(t("more"), load));
}

function line(one, thread, intents) {
  const active = one.thread_id === thread;
  const marks = [
    one.waits ? h("span", { class: "chip warn" }, t("waits")) : null,
    one.handoff ? h("span", { class: "chip person" }, t("with.person")) : null,
    one.fault ? h("span", { class: "chip bad" }, t("fault")) : null,
    one.stopped_because ? h("span", { class: "chip quiet" }, t("stopped")) : null,
  ];
  return h(
    "li",
    {},
    h(
      "a",
      {
        href: `#/conversations/${encodeURIComponent(one.thread_id)}`,
        "aria-current": active ? "true" : null,
        "data-thread": one.thread_id,
      },
      h(
        "span",
        { class: "row" },
        h("b", {}, one.user_id || one.thread_id),
        h("time", { datetime: one.at, title: fullMoment(one.at) }, moment(one.at)),
      ),
      h("span", { class: "words" }, one.request),
      h("span", { class: "marks" }, marks, one.intents.map((name) => h("span", { class: "chip quiet", title: intents[name]?.[language] }, name))),
    ),
  );
}

async function openThread(found, thread, turn, frame) {
  if (!thread) {
    show(found.thread, h("p", { class: "empty" }, t("choose.conversation")));
    return () => {};
  }
  return renderThread(found.thread, thread, turn, frame);
}

async function openTurn(found, thread, turn) {
  if (!thread || !turn) {
    show(found.turn, h("p", { class: "empty" }, t("choose.turn")));
    return;
  }
  await renderTurn(found.turn, thread, turn);
}
