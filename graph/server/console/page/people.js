// Conversations that are with a person, longest first.

import { read } from "./api.js";
import { h, show } from "./dom.js";
import { packet } from "./thread.js";
import { t } from "./words.js";

const REFRESH = 8000;

export async function renderPeople(main, rest, frame) {
  const list = h("div", { class: "cards" });
  show(main, h("div", { class: "column" }, h("h1", {}, t("title.people")), list));
  let seen = null;
  const refresh = async () => {
    const { handovers } = await read.handovers();
    frame.count("people", handovers.length);
    const now = JSON.stringify(handovers);
    if (now === seen) return;
    seen = now;
    show(list, handovers.length ? cards(handovers) : h("p", { class: "empty" }, t("no.people")));
  };
  await refresh();
  const timer = setInterval(() => !document.hidden && refresh().catch(() => {}), REFRESH);
  return () => clearInterval(timer);
}

function cards(handovers) {
  return handovers.map((one) =>
    h(
      "article",
      { class: "card" },
      h("header", {}, h("h2", {}, h("a", { href: `#/conversations/${encodeURIComponent(one.thread_id)}` }, one.user_id))),
      h("p", { class: "words" }, one.request),
      packet(one.handoff),
    ),
  );
}
