// The page in the reader's language, and how that language writes times and numbers.

import en from "./words-en.js";
import zh from "./words-zh.js";

const LANGUAGES = { en, zh };
const CHOSEN = "steward.language";

function preferred() {
  const chosen = localStorage.getItem(CHOSEN);
  if (chosen in LANGUAGES) return chosen;
  const first = navigator.languages.map((name) => name.slice(0, 2)).find((name) => name in LANGUAGES);
  return first ?? "en";
}

export let language = preferred();
document.documentElement.lang = language === "zh" ? "zh-CN" : "en";

export function choose(name) {
  language = name;
  localStorage.setItem(CHOSEN, name);
  document.documentElement.lang = name === "zh" ? "zh-CN" : "en";
}

/** The words for a key, with {names} filled in. */
export function t(key, values = {}) {
  const text = LANGUAGES[language][key] ?? en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** The words for a key that may be unknown: a stage, a reason or a kind of error that came later. */
export function named(prefix, name) {
  const key = `${prefix}.${name}`;
  return LANGUAGES[language][key] ?? en[key] ?? name;
}

const locale = () => (language === "zh" ? "zh-CN" : "en-GB");

export function number(value) {
  return new Intl.NumberFormat(locale()).format(value);
}

export function percent(value) {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(value);
}

export function money(value) {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 5 }).format(value);
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${value.toFixed(1)} s`;
  return `${number(Math.round(value / 60))} min`;
}

/** A moment: the time of day today, the day before that. */
export function moment(text) {
  const then = new Date(text);
  const today = then.toDateString() === new Date().toDateString();
  const shape = today ? { hour: "2-digit", minute: "2-digit" } : { month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(locale(), shape).format(then);
}

export function fullMoment(text) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "medium" }).format(new Date(text));
}
