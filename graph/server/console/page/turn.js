// One turn: its way through the graph, and why it was served as it was.

import { change, read } from "./api.js";
import { form, field, h, say, show } from "./dom.js";
import { picture } from "./picture.js";
import { fullMoment, money, named, number, percent, seconds, t } from "./words.js";

const CLASSES = ["instructions", "memory", "tools", "history", "output"];
const NUMBERS = new Set(["took", "prompt", "completion"]);
let drawn = null;

export async function renderTurn(pane, thread, turn) {
  const fresh = pane.dataset.turn !== turn;
  if (fresh) show(pane, h("p", { class: "empty" }, t("loading")));
  pane.dataset.turn = turn;
  drawn ??= await read.graph();
  const found = await read.turn(thread, turn);
  if (pane.dataset.turn !== turn) return;
  const address = `#/conversations/${encodeURIComponent(thread)}`;
  show(
    pane,
    h("header", {}, h("a", { class: "back", href: address }, `‹ ${t("back")}`), h("div", {}, h("h2", { tabindex: "-1" }, found.turn.request), sum(found))),
    ending(found),
    part(t("way"), h("div", { class: "picture" }, picture(drawn, found.way)), steps(found.way)),
    part(t("route"), route(found.route)),
    part(t("recalled"), recalled(found)),
    part(t("calls"), calls(found.tool_calls)),
    part(t("review"), reviews(found.reviews)),
    part(t("cost"), cost(found)),
    part(t("rate"), rating(found)),
    part(t("versions"), versions(found.turn.versions)),
  );
  if (fresh) pane.querySelector("h2").focus({ preventScroll: true });
}

const part = (title, ...content) => h("section", { class: "part" }, h("h3", {}, title), content);
const head = (name) => h("th", { scope: "col", class: NUMBERS.has(name) ? "number" : null }, t(name));
const none = (text) => h("p", { class: "faint" }, text);

function sum(found) {
  const took = found.way.steps.reduce((all, step) => all + (step.asked ? 0 : (step.seconds ?? 0)), 0);
  const spent = found.model_calls.reduce((all, call) => all + (call.cost ?? 0), 0);
  const tokens = t("tokens", { n: number(found.turn.tokens) });
  return h("p", { class: "faint" }, [fullMoment(found.turn.started_at), seconds(took), tokens, t("price", { n: money(spent) })].join(" · "));
}

function ending(found) {
  const last = found.way.steps.at(-1);
  let [kind, text] = ["good", t("ended.well")];
  if (found.fault) [kind, text] = ["bad", t("ended.fault", { id: found.fault })];
  else if (found.stopped_because) [kind, text] = ["warn", named("stop", found.stopped_because)];
  else if (last && last.seconds === null) [kind, text] = ["warn", t(last.asked ? "ended.waits" : "ended.open")];
  else if (found.handoff && !found.answer) [kind, text] = ["person", t("ended.person")];
  return h("p", { class: `ending ${kind}` }, h("b", {}, t("stopped.because")), " ", text);
}

function steps(way) {
  const rows = way.steps.map((step, place) =>
    h(
      "tr",
      {},
      h("td", {}, place + 1),
      h("td", {}, step.nodes.map((name) => h("div", {}, h("code", {}, name)))),
      h("td", {}, step.nodes.map((name) => h("div", {}, named("node", name))), step.error && h("div", { class: "bad" }, step.error)),
      h("td", { class: "number" }, step.asked ? t("asked") : step.seconds === null ? t("running") : seconds(step.seconds)),
    ),
  );
  const heads = ["step", "stage", "what", "took"].map(head);
  return h("div", { class: "scroll" }, h("table", {}, h("caption", { class: "hidden" }, t("way.table")), h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
}

function bar(value, text) {
  const filled = h("i", {});
  filled.style.width = `${Math.max(0, Math.min(1, value)) * 100}%`;
  return h("span", { class: "bar", role: "img", "aria-label": text }, filled);
}

function route(found) {
  if (!found) return none(t("route.none"));
  const rows = found.intents.map((one) =>
    h("li", { class: "intent" }, h("b", {}, one.name), bar(one.confidence, percent(one.confidence)), h("span", {}, percent(one.confidence)), h("span", { class: "faint" }, named("source", one.source))),
  );
  return [
    h("ul", { class: "intents" }, rows),
    h("p", {}, found.why),
    h("p", { class: "marks" }, found.review && h("span", { class: "chip" }, t("reviewed")), found.guess && h("span", { class: "chip warn" }, t("guess"))),
    h("p", { class: "faint" }, `${t("offered")}: `, found.tools.map((name, place) => [place ? ", " : "", h("code", {}, name)])),
  ];
}

function recalled(found) {
  const facts = Object.entries(found.session?.key_facts ?? {});
  const user = `#/memories/${encodeURIComponent(found.turn.user_id)}`;
  return [
    found.recalled?.length
      ? h("ul", { class: "recalled" }, found.recalled.map((one) => h("li", {}, h("a", { href: user }, h("code", {}, one.key)), " ", one.content, " ", h("span", { class: "faint" }, one.score.toFixed(2)))))
      : none(t("recalled.none")),
    facts.length > 0 && h("p", { class: "faint" }, `${t("facts")}: ${facts.map(([name, value]) => `${name}: ${value}`).join("; ")}`),
    found.context?.cut?.length > 0 && h("p", { class: "faint" }, `${t("context.cut")}: ${found.context.cut.join("; ")}`),
  ];
}

function calls(found) {
  if (!found.length) return none(t("calls.none"));
  return found.map((call) =>
    h(
      "details",
      { class: "call" },
      h(
        "summary",
        {},
        h("code", {}, call.name),
        h("span", { class: `chip ${call.status === "ok" ? "good" : call.status === "error" ? "bad" : "warn"}` }, t(`status.${call.status}`), call.error_kind && ` · ${call.error_kind}`),
        h("span", { class: "faint" }, seconds(call.seconds), call.attempts > 1 && ` · ${t("attempts", { n: call.attempts })}`),
      ),
      h("h4", {}, t("arguments")),
      h("pre", {}, JSON.stringify(call.args, null, 2)),
      call.result && [h("h4", {}, t("result")), h("pre", {}, call.result)],
    ),
  );
}

function reviews(found) {
  if (!found.length) return none(t("review.none"));
  return found.map((one) =>
    h(
      "div",
      { class: "round" },
      h("p", {}, h("b", {}, t("round", { n: one.rounds })), " ", h("span", { class: "chip" }, named("verdict", one.verdict))),
      [...one.findings, ...one.problems, one.objection].filter(Boolean).map((text) => h("p", { class: "faint" }, text)),
    ),
  );
}

function cost(found) {
  if (!found.model_calls.length) return none(t("cost.none"));
  const classes = found.usage?.by_class ?? {};
  const all = CLASSES.reduce((total, name) => total + (classes[name] ?? 0), 0) || 1;
  const stack = CLASSES.map((name) => {
    const piece = h("i", { class: name });
    piece.style.width = `${((classes[name] ?? 0) / all) * 100}%`;
    return piece;
  });
  const key = CLASSES.map((name) => h("li", { class: name }, `${t(`class.${name}`)} ${number(classes[name] ?? 0)}`));
  const plan = found.context;
  return [
    h("div", { class: "stack", "aria-hidden": "true" }, stack),
    h("ul", { class: "key" }, key),
    plan && h("p", { class: "faint" }, `${t("context")}: ${t("context.of", { n: number(Object.values(plan.tokens).reduce((a, b) => a + b, 0)), budget: number(plan.budget) })}`),
    modelCalls(found.model_calls),
  ];
}

function modelCalls(found) {
  const heads = ["role", "model", "prompt", "completion"].map(head);
  const rows = found.map((call) =>
    h(
      "tr",
      {},
      h("td", {}, call.role),
      h("td", {}, call.model),
      h("td", { class: "number" }, number(call.prompt_tokens), call.cached_tokens > 0 && h("div", { class: "faint" }, t("cached", { n: number(call.cached_tokens) }))),
      h("td", { class: "number" }, number(call.completion_tokens), call.estimated && h("div", { class: "faint" }, t("estimated"))),
    ),
  );
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
}

function rating(found) {
  const reason = h("input", { type: "text", maxlength: 2000, value: found.feedback?.reason ?? "" });
  const given = found.feedback?.rating;
  const choice = (value) =>
    h("label", { class: "choice" }, h("input", { type: "radio", name: "rating", value, required: true, checked: given === value }), t(value));
  return form(
    { class: "rating" },
    async (element) => {
      await change.rate(found.turn.id, new FormData(element).get("rating"), reason.value);
      say(t("rated"));
    },
    h("div", { class: "choices", role: "radiogroup", "aria-label": t("rate") }, choice("good"), choice("bad")),
    field(t("reason"), reason),
    h("div", { class: "buttons" }, h("button", { type: "submit" }, t("save"))),
  );
}

function versions(found) {
  const rows = Object.entries(found ?? {}).map(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, typeof value === "string" ? value : Object.entries(value).map(([key, one]) => `${key} ${one}`).join(", ")),
  ]);
  return h("dl", { class: "versions" }, rows);
}
