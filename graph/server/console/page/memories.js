// What is remembered of a user: found, corrected, added, forgotten.

import { change, read } from "./api.js";
import { action, field, form, h, say, show } from "./dom.js";
import { fullMoment, moment, number, percent, t } from "./words.js";

const TYPES = ["fact", "preference", "decision"];

export async function renderMemories(main, rest) {
  const [user] = rest;
  main.dataset.depth = user ? "1" : "0";
  const users = h("ul", { class: "list" });
  const search = h("input", { type: "search", id: "user-search", placeholder: t("user.hint"), autocomplete: "off" });
  const pane = h("section", { class: "pane memories-of", "aria-label": t("title.memories") });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => listUsers(users, search.value.trim(), user), 250);
  });
  show(
    main,
    h(
      "section",
      { class: "pane side", "aria-label": t("users") },
      h("div", { class: "searching" }, h("label", { for: "user-search", class: "hidden" }, t("user")), search),
      users,
    ),
    pane,
  );
  await Promise.all([listUsers(users, "", user), showMemories(pane, user)]);
}

async function listUsers(list, words, user) {
  const found = (await read.users(words)).users;
  const known = found.some((one) => one.user_id === words);
  const lines = found.map((one) => userLine(one.user_id, t("memories.n", { n: number(one.memories) }), one.at, user));
  if (words && !known) lines.unshift(userLine(words, "", null, user));
  show(list, lines.length ? lines : h("li", { class: "empty" }, t("no.users")));
}

function userLine(id, note, at, user) {
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#/memories/${encodeURIComponent(id)}`, "aria-current": id === user ? "true" : null },
      h("span", { class: "row" }, h("b", {}, id), at && h("time", { datetime: at, title: fullMoment(at) }, moment(at))),
      h("span", { class: "words" }, note),
    ),
  );
}

async function showMemories(pane, user) {
  if (!user) {
    show(pane, h("p", { class: "empty" }, t("user.hint")));
    return;
  }
  const { memories } = await read.memories(user);
  const refresh = () => showMemories(pane, user);
  show(
    pane,
    h("header", {}, h("a", { class: "back", href: "#/memories" }, `‹ ${t("back")}`), h("h1", {}, user)),
    h(
      "div",
      { class: "cards" },
      memories.length ? memories.map((one) => memoryCard(user, one, refresh)) : h("p", { class: "empty" }, t("no.memories")),
      adding(user, refresh),
    ),
  );
}

function memoryCard(user, memory, refresh) {
  const body = h("div", { class: "body" });
  const facts = [
    t(`type.${memory.type}`),
    memory.domains.join(", "),
    `${t("confidence")} ${percent(memory.confidence)}`,
    `${t("importance")} ${percent(memory.importance)}`,
    `${t("confirmed")} ${moment(memory.last_confirmed_at)}`,
  ].filter(Boolean);
  const reading = () =>
    show(
      body,
      h("p", { class: "words" }, memory.content),
      h("p", { class: "faint" }, facts.join(" · ")),
      memory.evidence && h("p", { class: "faint" }, `${t("evidence")}: ${memory.evidence}`),
      h(
        "div",
        { class: "buttons" },
        memory.type !== "state" && h("button", { type: "button", onclick: () => edit() }, t("correct")),
        forgetting(user, memory, refresh),
      ),
    );
  const edit = () => {
    show(body, correcting(user, memory, refresh, reading));
    body.querySelector("textarea").focus();
  };
  reading();
  return h("article", { class: "card memory", "data-key": memory.key }, h("h3", {}, h("code", {}, memory.key)), body);
}

function forgetting(user, memory, refresh) {
  const forget = async () => {
    if (button.dataset.sure !== "yes") {
      button.dataset.sure = "yes";
      button.textContent = t("forget.sure");
      button.classList.add("danger");
      return;
    }
    await change.forget(user, memory.key);
    say(t("forgotten"));
    await refresh();
  };
  const button = action(t("forget"), forget);
  button.addEventListener("blur", () => {
    button.dataset.sure = "";
    button.textContent = t("forget");
    button.classList.remove("danger");
  });
  return button;
}

function correcting(user, memory, refresh, cancel) {
  const content = h("textarea", { rows: 2, required: true, value: memory.content });
  const type = typeChoice(memory.type);
  const domains = h("input", { type: "text", value: memory.domains.join(", ") });
  return form(
    {},
    async () => {
      await change.correct(user, memory.key, {
        content: content.value,
        type: type.value,
        domains: split(domains.value),
        importance: memory.importance,
      });
      say(t("saved"));
      await refresh();
    },
    field(t("content"), content),
    h("div", { class: "pair" }, field(t("type"), type), field(t("domains"), domains, t("domains.hint"))),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "submit", class: "primary" }, t("save")),
      h("button", { type: "button", onclick: cancel }, t("cancel")),
    ),
  );
}

function typeChoice(chosen) {
  const select = h("select", {}, TYPES.map((name) => h("option", { value: name }, t(`type.${name}`))));
  select.value = TYPES.includes(chosen) ? chosen : "fact";
  return select;
}

const split = (text) => {
  const names = text.split(/[,，]/).map((name) => name.trim()).filter(Boolean);
  return names.length ? names : ["general"];
};

function adding(user, refresh) {
  const key = h("input", { type: "text", required: true, autocomplete: "off" });
  const content = h("textarea", { rows: 2, required: true });
  const type = typeChoice("preference");
  return h(
    "details",
    { class: "card" },
    h("summary", {}, t("remember")),
    form(
      {},
      async () => {
        await change.correct(user, key.value, { content: content.value, type: type.value });
        say(t("saved"));
        await refresh();
      },
      h("div", { class: "pair" }, field(t("key"), key), field(t("type"), type)),
      field(t("content"), content),
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, t("save"))),
    ),
  );
}
