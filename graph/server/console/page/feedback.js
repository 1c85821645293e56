// What customers and staff thought of answers.

import { read } from "./api.js";
import { h, show } from "./dom.js";
import { fullMoment, moment, t } from "./words.js";

let rating = "";

export async function renderFeedback(main, rest, frame) {
  const { feedback } = await read.feedback(rating);
  const choice = (value, text) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(rating === value),
        onclick: () => {
          rating = value;
          renderFeedback(main, rest, frame);
        },
      },
      text,
    );
  show(
    main,
    h(
      "div",
      { class: "column" },
      h("h1", {}, t("title.feedback")),
      h("div", { class: "switch", role: "group", "aria-label": t("title.feedback") }, choice("", t("all")), choice("bad", t("bad")), choice("good", t("good"))),
      feedback.length ? h("ul", { class: "ratings" }, feedback.map(line)) : h("p", { class: "empty" }, t("no.feedback")),
    ),
  );
}

function line(one) {
  const address = `#/conversations/${encodeURIComponent(one.thread_id)}/${encodeURIComponent(one.turn_id)}`;
  return h(
    "li",
    { class: "card" },
    h("span", { class: `chip ${one.rating === "good" ? "good" : "bad"}` }, t(one.rating)),
    h("a", { href: address }, one.user_id),
    h("span", { class: "words" }, one.reason),
    h("span", { class: "faint" }, t("rating.by", { who: t(one.by_role === "staff" ? "staff" : "customer") })),
    h("time", { datetime: one.at, title: fullMoment(one.at) }, moment(one.at)),
  );
}
