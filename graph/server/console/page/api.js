// What the page asks of the server. The token, where one is needed, lives in this tab alone and never in an address.

const TOKEN = "steward.token";
const API = "/console/api";
const part = encodeURIComponent;

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value),
  clear: () => sessionStorage.removeItem(TOKEN),
};

async function ask(method, path, body) {
  const headers = { accept: "application/json" };
  if (token.get()) headers.authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
  });
  const text = await response.text();
  const given = text ? readJson(text) : null;
  if (!response.ok) {
    if (response.status === 401) document.dispatchEvent(new Event("signed-out"));
    throw new Refused(response.status, sentence(given, response));
  }
  if (given && given.__error__) throw new Refused(500, given.__error__.message ?? String(given.__error__));
  return given;
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sentence(given, response) {
  const detail = given && (given.detail ?? given.message);
  return typeof detail === "string" ? detail : `${response.status} ${response.statusText}`;
}

function query(values) {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

export const read = {
  about: () => ask("GET", `${API}/about`),
  graph: () => ask("GET", `${API}/graph`),
  conversations: (search, before) => ask("GET", `${API}/conversations${query({ search, before })}`),
  conversation: (thread) => ask("GET", `${API}/conversations/${part(thread)}`),
  turn: (thread, turn) => ask("GET", `${API}/conversations/${part(thread)}/turns/${part(turn)}`),
  approvals: () => ask("GET", "/approvals"),
  handovers: () => ask("GET", `${API}/handovers`),
  users: (search) => ask("GET", `${API}/users${query({ search })}`),
  memories: (user) => ask("GET", `/users/${part(user)}/memories`),
  feedback: (rating) => ask("GET", `${API}/feedback${query({ rating })}`),
};

/** Runs the graph on a thread. The server lists only threads that it has seen; one from elsewhere is named first. */
async function run(graph, thread, user, given) {
  const metadata = { graph_id: graph, owner: user };
  await ask("POST", "/threads", { thread_id: thread, if_exists: "do_nothing", metadata });
  const context = { user_id: user, role: "staff" };
  return ask("POST", `/threads/${part(thread)}/runs/wait`, { assistant_id: graph, context, ...given });
}

export const change = {
  /** `decisions` by call id; calls that are not named go on waiting. */
  settle: (graph, waiting, decisions) =>
    run(graph, waiting.thread_id, waiting.user_id, { command: { resume: { decisions } } }),
  reply: (graph, thread, user, text) =>
    run(graph, thread, user, {
      input: { messages: [{ role: "user", content: text }] },
      multitask_strategy: "enqueue",
    }),
  handBack: (thread) => ask("POST", `/threads/${part(thread)}/handback`),
  correct: (user, key, memory) => ask("PUT", `/users/${part(user)}/memories/${part(key)}`, memory),
  forget: (user, key) => ask("DELETE", `/users/${part(user)}/memories/${part(key)}`),
  rate: (turn, rating, reason) => ask("POST", `/turns/${part(turn)}/feedback`, { rating, reason }),
};
