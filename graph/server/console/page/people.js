// Conversations that are with a person, longest first.

import { read } from "./api.js";
import { h, show } from "./dom.js";
import { packet } from "./thread.js";
import { t } from "./words.js";

export async function renderPeople(main, rest, frame) {
  const { handovers } = await read.handovers();
  frame.count("people", handovers.length);
  const cards = handovers.map((one) =>
    h(
      "article",
      { class: "card" },
      h("header", {}, h("h2", {}, h("a", { href: `#/conversations/${encodeURIComponent(one.thread_id)}` }, one.user_id))),
      h("p", { class: "words" }, one.request),
      packet(one.handoff),
    ),
  );
  show(
    main,
    h(
      "div",
      { class: "column" },
      h("h1", {}, t("title.people")),
      h("div", { class: "cards" }, cards.length ? cards : h("p", { class: "empty" }, t("no.people"))),
    ),
  );
}
