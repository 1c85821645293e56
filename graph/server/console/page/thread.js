// One conversation: what was said and called, and what staff can do with it now.

import { change, read } from "./api.js";
import { UUID, approvalCard } from "./approvals.js";
import { action, field, form, h, say, show } from "./dom.js";
import { fullMoment, moment, number, t } from "./words.js";

const REFRESH = 5000;

/** Fills the pane and keeps it fresh; gives back what ends that. */
export async function renderThread(pane, thread, turn, frame) {
  const parts = { head: h("header", {}), said: h("ol", { class: "said" }), acts: h("div", { class: "acts" }) };
  const same = pane.dataset.thread === thread;
  const top = same ? pane.scrollTop : 0;
  pane.dataset.thread = thread;
  if (!same) show(pane, h("p", { class: "empty" }, t("loading")));
  let seen = "";
  let acts = "";
  const refresh = async () => {
    const found = await read.conversation(thread);
    if (pane.dataset.thread !== thread) return;
    const now = JSON.stringify([found.messages.length, found.at, found.turns, turn]);
    if (now === seen) return;
    const first = seen === "";
    seen = now;
    show(parts.head, head(found));
    show(parts.said, found.shortened && h("li", { class: "empty" }, t("shortened")), lines(found, turn));
    const standing = JSON.stringify([found.waiting, found.handoff]);
    if (standing !== acts) show(parts.acts, actions(found, frame, refresh));
    acts = standing;
    if (first) show(pane, parts.head, parts.said, parts.acts);
    if (first && same) pane.scrollTop = top;
    else if (first && !turn) parts.said.lastElementChild?.scrollIntoView({ block: "nearest" });
    if (first && !same && !turn) focusWhereNoListIs(parts.head);
  };
  await refresh();
  const timer = setInterval(() => !document.hidden && refresh().catch(() => {}), REFRESH);
  return () => clearInterval(timer);
}

/** Where the pane has taken the list's place, whoever goes on by keyboard goes on in the pane. */
function focusWhereNoListIs(head) {
  if (!document.querySelector(".side").checkVisibility()) head.querySelector("a").focus({ preventScroll: true });
}

function head(found) {
  return [
    h("a", { class: "back", href: "#/conversations" }, `‹ ${t("back")}`),
    h(
      "div",
      {},
      h("h2", {}, h("a", { href: `#/memories/${encodeURIComponent(found.user_id)}` }, found.user_id)),
      h("p", { class: "faint" }, h("code", {}, found.thread_id)),
    ),
    h("time", { datetime: found.at }, fullMoment(found.at)),
  ];
}

function lines(found, open) {
  const results = new Map(found.messages.filter((one) => one.by === "tool").map((one) => [one.call_id, one.text]));
  const ends = new Map(found.messages.map((one) => [one.turn_id, one.id]));
  return found.messages
    .filter((one) => one.by !== "tool")
    .map((one) =>
      h(
        "li",
        { class: `line ${one.by}${one.turn_id === open ? " open" : ""}` },
        one.text && h("div", { class: "bubble" }, h("span", { class: "by" }, t(one.by)), h("p", {}, one.text)),
        (one.calls ?? []).map((call) => called(call, results.get(call.id))),
        one.by === "customer" && turnLink(found, one, open),
        one.by === "customer" && ends.get(one.turn_id) === one.id && !found.handoff && h("p", { class: "faint" }, t("silent")),
      ),
    );
}

function called(call, result) {
  return h(
    "details",
    { class: "called" },
    h("summary", {}, h("code", {}, call.name), " ", h("span", { class: "faint" }, JSON.stringify(call.args))),
    result !== undefined && h("pre", {}, pretty(result)),
  );
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function turnLink(found, one, open) {
  const turn = found.turns[one.turn_id];
  const rated = turn?.rating ? (turn.rating === "good" ? "👍" : "👎") : "";
  return h(
    "a",
    {
      class: "how",
      href: `#/conversations/${encodeURIComponent(found.thread_id)}/${encodeURIComponent(one.turn_id)}`,
      "aria-current": one.turn_id === open ? "true" : null,
    },
    t("turn.open"),
    turn && h("span", { class: "faint" }, ` ${moment(turn.at ?? found.at)} · ${t("tokens", { n: number(turn.tokens) })} ${rated}`),
  );
}

function actions(found, frame, refresh) {
  return [
    found.waiting && found.waiting.requests.map((request) => approvalCard(found.waiting, request, frame, refresh)),
    found.handoff && handover(found, frame, refresh),
  ];
}

function handover(found, frame, refresh) {
  const { handoff, thread_id: thread, user_id: user } = found;
  const back = action(t("hand.back"), async () => {
    await change.handBack(thread);
    say(t("handed.back"));
    await refresh();
  });
  if (!UUID.test(thread)) {
    const note = h("p", { class: "faint" }, t("not.uuid.reply"));
    return h("section", { class: "card handover" }, packet(handoff), note, h("div", { class: "buttons" }, back));
  }
  const text = h("textarea", { rows: 3, required: true });
  const reply = form(
    { class: "reply" },
    async () => {
      await change.reply(frame.about.graph, thread, user, text.value);
      text.value = "";
      say(t("sent"));
      await refresh();
    },
    field(t("reply"), text),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "submit", class: "primary" }, t("send")),
      back,
    ),
  );
  return h("section", { class: "card handover" }, packet(handoff), reply);
}

/** The packet that a colleague is given. */
export function packet(handoff) {
  const given = handoff.packet ?? {};
  const rows = [
    ["handoff.reason", handoff.reason],
    ["handoff.summary", given.summary],
    ["handoff.request", given.request],
    ["handoff.intents", (given.intents ?? []).join(", ")],
    ["handoff.calls", (given.tool_calls ?? []).map((call) => `${call.name} (${call.status})`).join(", ")],
  ].filter(([, value]) => value);
  return [
    h("h3", {}, t("handoff.since", { at: fullMoment(handoff.since) })),
    h("dl", {}, rows.map(([name, value]) => [h("dt", {}, t(name)), h("dd", {}, String(value))])),
  ];
}
