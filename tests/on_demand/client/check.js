// The server as LangGraph's JavaScript clients use it (Agent Chat UI, Agent Inbox): node check.js URL
//
// A turn is streamed, threads that wait are found by their status, their payload has the human-in-the-loop form, and
// each kind of decision is taken. Prints one line a check; ends with an error at the first that fails.

import assert from "node:assert/strict";

import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: process.argv[2], apiKey: null });
const GRAPH = "steward";
const CUSTOMER = { user_id: "user_123" };
const STAFF = { ...CUSTOMER, role: "staff" };
const RETURN = "订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123";

const human = (content) => ({ messages: [{ type: "human", content }] });

async function check(sentence, work) {
  await work();
  console.log(`ok  ${sentence}`);
}

/** The text that a chat window would show, put together from a stream of message chunks. */
function spoken(events) {
  const texts = new Map();
  for (const { event, data } of events) {
    if (event !== "messages") continue;
    const [message] = data;
    if (!["ai", "AIMessageChunk"].includes(message.type) || message.tool_calls?.length) continue;
    const text = typeof message.content === "string" ? message.content : "";
    texts.set(message.id, message.type === "ai" ? text : (texts.get(message.id) ?? "") + text);
  }
  return [...texts.values()].join("");
}

async function streamed(threadId, payload) {
  const events = [];
  for await (const part of client.runs.stream(threadId, GRAPH, payload)) events.push(part);
  assert.deepEqual(events.filter(({ event }) => event.startsWith("error")), []);
  return events;
}

/** A thread that waits for staff, as an inbox finds it. */
async function waiting() {
  const { thread_id: threadId } = await client.threads.create();
  await client.runs.wait(threadId, GRAPH, { input: human(RETURN), context: CUSTOMER });
  const found = await client.threads.search({ status: "interrupted", limit: 100 });
  const thread = found.find((one) => one.thread_id === threadId);
  assert.ok(thread, "the thread is not among those that wait");
  const [[interrupt]] = Object.values(thread.interrupts);
  return { threadId, request: interrupt.value };
}

async function decided(decision) {
  const { threadId } = await waiting();
  await streamed(threadId, {
    command: { resume: { decisions: [decision] } },
    context: STAFF,
    streamMode: ["values", "messages-tuple"],
  });
  const state = await client.threads.getState(threadId);
  assert.deepEqual(state.next, []);
  const { messages } = state.values;
  assert.equal(messages.at(-1).type, "ai");
  assert.ok(messages.at(-1).content);
  const result = messages.findLast((message) => message.type === "tool");
  return { result: JSON.parse(result.content), call: state.values.tool_calls.at(-1) };
}

await check("a turn streams its answer, its updates and its progress", async () => {
  const { thread_id: threadId } = await client.threads.create();
  const events = await streamed(threadId, {
    input: human("Where is my order ABC-20240520-001?"),
    context: CUSTOMER,
    streamMode: ["messages-tuple", "updates", "custom", "values"],
  });
  const kinds = new Set(events.map(({ event }) => event));
  for (const kind of ["messages", "updates", "custom", "values"]) assert.ok(kinds.has(kind), kind);
  const state = await client.threads.getState(threadId);
  assert.equal(spoken(events), state.values.answer);
  assert.match(state.values.answer, /SF1234567890/);
  assert.deepEqual(state.values.messages.map(({ type }) => type), ["human", "ai", "tool", "ai"]);
  const history = await client.threads.getHistory(threadId, { limit: 50 });
  assert.ok(history.length > 5);
  assert.ok(history.some(({ next }) => next.includes("execute_tools")));
});

await check("an approval that waits has the human-in-the-loop form", async () => {
  const { threadId, request } = await waiting();
  const [action] = request.action_requests;
  assert.equal(action.name, "aftersale_create");
  assert.equal(action.args.order_id, "GHI-20240512-003");
  assert.ok(action.description);
  assert.deepEqual(request.review_configs, [
    { action_name: "aftersale_create", allowed_decisions: ["approve", "edit", "reject", "respond"] },
  ]);
  const [task] = (await client.threads.getState(threadId)).tasks;
  assert.deepEqual(task.interrupts[0].value, request);
});

await check("reject: the call does not run, and the agent says why", async () => {
  const { result } = await decided({ type: "reject", message: "No return of this kind." });
  assert.equal(result.error_kind, "denied");
  assert.match(JSON.stringify(result), /No return of this kind\./);
});

await check("respond: a person's words stand in place of the result", async () => {
  const { result } = await decided({ type: "respond", message: "A new cup is on its way." });
  assert.match(JSON.stringify(result), /A new cup is on its way\./);
});

await check("edit: the call runs as it was edited", async () => {
  const { request } = await waiting();
  const args = { ...request.action_requests[0].args, issue_desc: "Cup broken, edited." };
  const { call } = await decided({ type: "edit", edited_action: { name: "aftersale_create", args } });
  assert.equal(call.args.issue_desc, "Cup broken, edited.");
});

await check("approve: the call runs", async () => {
  const { call } = await decided({ type: "approve" });
  assert.equal(call.args.order_id, "GHI-20240512-003");
  assert.notEqual(call.status, "pending");
});
