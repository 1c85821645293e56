// Approvals: what waits, and approve, edit, reject, respond.

import { change, read } from "./api.js";
import { action, field, form, h, say, show } from "./dom.js";
import { fullMoment, t } from "./words.js";

const REFRESH = 8000;
/** What a thread has to be called so that the server can run it. */
export const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export async function renderApprovals(main, rest, frame) {
  const list = h("div", { class: "cards" });
  show(main, h("div", { class: "column" }, h("h1", {}, t("title.approvals")), list));
  let seen = null;
  const refresh = async () => {
    const { approvals } = await read.approvals();
    frame.count("approvals", approvals.length);
    const now = JSON.stringify(approvals);
    if (now === seen) return;
    seen = now;
    const cards = approvals.flatMap((waiting) =>
      waiting.requests.map((request) => approvalCard(waiting, request, frame, refresh, true)),
    );
    show(list, cards.length ? cards : h("p", { class: "empty" }, t("no.approvals")));
  };
  await refresh();
  const editing = () => list.querySelector("form") !== null;
  const timer = setInterval(() => !document.hidden && !editing() && refresh().catch(() => {}), REFRESH);
  return () => clearInterval(timer);
}

/** One call that waits, with what can be decided on it. `refresh` is called once it is settled. */
export function approvalCard(waiting, request, frame, refresh, linked = false) {
  const decide = async (decision) => {
    await change.settle(frame.about.graph, waiting, { [request.call_id]: decision });
    say(t("decided"));
    await refresh();
  };
  const below = h("div", { class: "below" });
  const card = h(
    "article",
    { class: "card approval", "data-call": request.call_id },
    h(
      "header",
      {},
      h("h3", {}, h("code", {}, request.name)),
      h("span", { class: "chip warn" }, t("waits.for", { who: t(`by.${request.by}`), at: fullMoment(waiting.since) })),
    ),
    h("p", {}, request.reason),
    linked && h("p", {}, h("a", { href: `#/conversations/${encodeURIComponent(waiting.thread_id)}` }, waiting.user_id)),
    listed(request.args),
    UUID.test(waiting.thread_id) ? choices(request, decide, below) : h("p", { class: "faint" }, t("not.uuid", { thread: waiting.thread_id })),
    below,
  );
  return card;
}

function listed(args) {
  const rows = Object.entries(args).map(([name, value]) => [
    h("dt", {}, h("code", {}, name)),
    h("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
  ]);
  return h("dl", { class: "arguments", "aria-label": t("arguments") }, rows);
}

function choices(request, decide, below) {
  const open = (make) => () => {
    const made = make(request, decide, () => show(below));
    show(below, made);
    made.querySelector("input, textarea")?.focus();
  };
  const button = (text, make) => h("button", { type: "button", onclick: open(make) }, text);
  return h(
    "div",
    { class: "buttons" },
    action(t("approve"), () => decide({ type: "approve" }), { class: "primary" }),
    button(t("edit"), editing),
    button(t("reject"), rejecting),
    button(t("respond"), responding),
  );
}

function closing(text, cancel, kind = "primary") {
  return h(
    "div",
    { class: "buttons" },
    h("button", { type: "submit", class: kind }, text),
    h("button", { type: "button", onclick: cancel }, t("cancel")),
  );
}

function editing(request, decide, cancel) {
  const controls = new Map(Object.entries(request.args).map(([name, value]) => [name, control(value)]));
  return form(
    { class: "editing" },
    () => {
      const args = Object.fromEntries([...controls].map(([name, one]) => [name, valueOf(name, one, request.args[name])]));
      return decide({ type: "edit", edited_action: { name: request.name, args } });
    },
    [...controls].map(([name, one]) => field(name, one)),
    closing(t("save.approve"), cancel),
  );
}

function control(value) {
  if (typeof value === "boolean") return h("input", { type: "checkbox", checked: value });
  if (typeof value === "number") return h("input", { type: "number", step: "any", value: String(value) });
  if (typeof value === "string" && value.length < 60) return h("input", { type: "text", value });
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return h("textarea", { rows: 3, value: text });
}

function valueOf(name, one, before) {
  if (typeof before === "boolean") return one.checked;
  if (typeof before === "number") return Number(one.value);
  if (typeof before === "string") return one.value;
  try {
    return JSON.parse(one.value);
  } catch {
    throw new Error(t("bad.json", { name }));
  }
}

function rejecting(request, decide, cancel) {
  const text = h("textarea", { rows: 2 });
  return form(
    {},
    () => decide(text.value.trim() ? { type: "reject", message: text.value.trim() } : { type: "reject" }),
    field(t("reject.reason"), text),
    closing(t("reject.now"), cancel, "danger"),
  );
}

function responding(request, decide, cancel) {
  const text = h("textarea", { rows: 2, required: true });
  return form(
    {},
    () => decide({ type: "respond", message: text.value.trim() }),
    field(t("respond.text"), text),
    closing(t("respond.now"), cancel),
  );
}
