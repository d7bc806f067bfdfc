// What is asked, what was answered, and the rows of it. Kept in the browser after each key; shows nothing.
"use strict";
const source = document.getElementById("task");
const TASK = JSON.parse(source.textContent);
const PREFIX = `dialogauge ${TASK.plan} ${TASK.rater} ${source.dataset.digest} `;
const STEPS = 500; // that can be undone
const IDLE = 60e3; // ms without a sign of life, after which no time is counted
const byId = new Map(TASK.items.map((item) => [item.id, item]));
const now = () => new Date().toISOString();

// The browser's store: an entry an item, the place, the steps to undo. An entry is read again before it is
// changed, so that a page that is open twice loses nothing: of two answers the newest counts.

const own = new Map();
let keeps = true;
let unsaved = false;

function read(name) {
  try {
    const text = keeps ? localStorage.getItem(PREFIX + name) : null;
    if (text !== null) return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) keeps = false;
  }
  return own.has(name) ? JSON.parse(own.get(name)) : undefined;
}

function write(name, value) {
  const text = JSON.stringify(value);
  own.set(name, text);
  try {
    localStorage.setItem(PREFIX + name, text);
  } catch {
    keeps = false;
  }
}

const place = { screen: "start", language: TASK.language, ...read("place") };
if (place.screen === "item" && !byId.has(place.item)) place.screen = "start";
if (!["en", "zh"].includes(place.language)) place.language = TASK.language;
const current = () => (place.screen === "item" ? byId.get(place.item) : undefined);

const marks = new Map();

function latest(item) {
  const mark = { answers: {}, skipped: null, flagged: null, seconds: 0, ...read(`item ${item.id}`) };
  marks.set(item.id, mark);
  return mark;
}

function keep(item, mark) {
  if (item === current()) {
    mark.seconds += pending / 1000;
    pending = 0;
  }
  marks.set(item.id, mark);
  write(`item ${item.id}`, mark);
  unsaved = true;
}

function change(item, key, edit) {
  const mark = latest(item);
  const step = { item: item.id, key, answer: mark.answers[key], skipped: mark.skipped, flagged: mark.flagged };
  edit(mark);
  keep(item, mark);
  write("steps", [...(read("steps") ?? []), step].slice(-STEPS));
}

// Take the last step back; return it.
function unmade() {
  const steps = read("steps") ?? [];
  const step = steps.pop();
  if (!byId.has(step?.item)) return undefined;
  write("steps", steps);
  const mark = latest(byId.get(step.item));
  if (step.answer) mark.answers[step.key] = step.answer;
  else delete mark.answers[step.key];
  mark.skipped = step.skipped;
  mark.flagged = step.flagged;
  keep(byId.get(step.item), mark);
  return step;
}

// time: of a visible page with a sign of life in the last minute

let pending = 0; // ms of attention to the current item that are not yet written
let alive = Date.now();
let ticked = Date.now();

function tick() {
  const time = Date.now();
  const attended = current() && document.visibilityState === "visible" && time - alive < IDLE;
  if (attended) pending += Math.min(time - ticked, 2000);
  ticked = time;
}

function settle() {
  tick();
  if (current() && pending) keep(current(), latest(current()));
}

function median() {
  const done = TASK.items.filter((item) => isDone(item) && !marks.get(item.id).skipped);
  const times = done.map((item) => marks.get(item.id).seconds).sort((a, b) => a - b);
  const middle = times.length >> 1;
  return times.length % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

// questions

function groupsOf(item) {
  const group = (level, turn) => ({
    turn,
    asks: TASK.questions
      .filter((question) => question.level === level)
      .map((question) => ({ question, turn, key: `${turn ?? ""}|${question.name}` })),
  });
  const turns = (item.turns ?? []).map((turn) => group("turn", turn));
  const groups = item.left ? [group("pair", null)] : [...turns, group("conversation", null)];
  return groups.filter(({ asks }) => asks.length);
}

const plans = new Map(TASK.items.map((item) => [item.id, groupsOf(item)]));
const asksOf = (item) => plans.get(item.id).flatMap((group) => group.asks);
const currentAsk = () => asksOf(current()).find((ask) => ask.key === place.key);
const currentGroup = () => plans.get(place.item).find((group) => group.asks.includes(currentAsk()));
const isWhole = ({ low, high, integer }) => integer !== false && Number.isInteger(low) && Number.isInteger(high);

// Values that have a button, each with its digit; none on a long scale or one of fractions.
function choicesOf({ level, low, high, na, ...rest }) {
  if (level === "pair") return ["left", "tie", "right"].map((value, at) => ({ value, digit: String(at + 1) }));
  const n = high - low + 1;
  if (n > 11 || !isWhole({ low, high, ...rest })) return [];
  const digits = low >= 0 && high <= 9;
  const scores = Array.from({ length: n }, (_, at) => {
    const digit = digits ? low + at : n < 10 ? at + 1 : null;
    return { value: low + at, digit: digit === null ? null : String(digit) };
  });
  return na ? [...scores, { value: "n/a", digit: scores.some(({ digit }) => digit === "0") ? null : "0" }] : scores;
}

function admits({ question }, value) {
  if (question.level === "pair") return ["left", "tie", "right"].includes(value);
  if (value === "n/a") return question.na === true;
  const within = typeof value === "number" && value >= question.low && value <= question.high;
  return within && (!isWhole(question) || Number.isInteger(value));
}

// A fraction wants a reason where both its whole neighbours do.
function wantsReason({ question }, { value } = {}) {
  const near = typeof value === "number" ? [Math.floor(value), Math.ceil(value)] : [value];
  return near.every((one) => question.reason_for?.includes(one));
}

const answerOf = (item, ask) => marks.get(item.id).answers[ask.key];
const lacksReason = (ask, answer) => wantsReason(ask, answer) && !answer.reason && !answer.note?.trim();

function openAsks(item) {
  if (marks.get(item.id).skipped) return [];
  return asksOf(item).filter((ask) => !answerOf(item, ask) || lacksReason(ask, answerOf(item, ask)));
}

const isDone = (item) => openAsks(item).length === 0;
const unfinished = () => TASK.items.filter((item) => !isDone(item));

// The question whose reason a letter chooses: the current one, or the one of its turn answered last that lacks it.
function reasonAsk() {
  const item = current();
  const ask = currentAsk();
  if (!ask || lacksReason(ask, answerOf(item, ask))) return ask;
  const lacking = currentGroup().asks.filter((each) => lacksReason(each, answerOf(item, each)));
  lacking.sort((a, b) => (answerOf(item, a).at < answerOf(item, b).at ? 1 : -1));
  return lacking[0] ?? (wantsReason(ask, answerOf(item, ask)) ? ask : undefined);
}

// A better reply to a turn is kept among the answers, under the key of no question.
const betterKey = (turn) => `${turn}|`;

// rows

function rowsOf(item) {
  const mark = marks.get(item.id);
  const ids = { plan: TASK.plan, item: item.id, rater: TASK.rater, conversation_id: item.conversation_id ?? item.id };
  const seconds = Math.round(mark.seconds * 10) / 10;
  const flags = mark.flagged ? [{ ...ids, flagged: mark.flagged.why, at: mark.flagged.at }] : [];
  if (mark.skipped) return [{ ...ids, skipped: mark.skipped.why, seconds, at: mark.skipped.at }, ...flags];
  const answered = asksOf(item).filter((ask) => answerOf(item, ask));
  const rows = answered.map((ask) => {
    const { value, reason, note, at } = answerOf(item, ask);
    const dimension = ask.question.name;
    const score = item.left ? { dimension, winner: value } : { turn: ask.turn, dimension, score: value };
    const digest = item.digests?.[ask.turn ?? ""];
    return { ...ids, ...score, note: note?.trim() || undefined, reason, digest, seconds, at };
  });
  const better = (item.turns ?? []).filter((turn) => mark.answers[betterKey(turn)]?.note?.trim()).map((turn) => {
    const { note, at } = mark.answers[betterKey(turn)];
    return { ...ids, turn, correction: note.trim(), digest: item.digests?.[turn], seconds, at };
  });
  return [...rows, ...better, ...flags];
}

const fileName = () => `${TASK.rater.replace(/[^\p{L}\p{N}._-]+/gu, "_")}.jsonl`;

// One row a line, for readers too that take other characters for line ends.
function fileText() {
  const escaped = (end) => `\\u${end.charCodeAt().toString(16).padStart(4, "0")}`;
  const lines = TASK.items.flatMap(rowsOf).map((row) => JSON.stringify(row).replace(/[\x85\u2028\u2029]/g, escaped));
  return lines.map((line) => `${line}\n`).join("");
}

// Take over a row of a saved file where it is newer than what is there; false where it is none of ours.
function take(row) {
  const item = row.plan === TASK.plan && row.rater === TASK.rater ? byId.get(row.item) : undefined;
  if (!item || Number.isNaN(Date.parse(row.at))) return false;
  const mark = latest(item);
  const newer = (old) => !old || old.at < row.at;
  const ask = asksOf(item).find(({ key }) => key === `${row.turn ?? ""}|${row.dimension}`);
  const value = item.left ? row.winner : row.score;
  if (typeof row.skipped === "string") {
    if ([mark.skipped, ...Object.values(mark.answers)].every(newer)) mark.skipped = { why: row.skipped, at: row.at };
  } else if (typeof row.flagged === "string") {
    if (newer(mark.flagged)) mark.flagged = { why: row.flagged, at: row.at };
  } else if (typeof row.correction === "string" && item.turns?.includes(row.turn)) {
    const key = betterKey(row.turn);
    if (newer(mark.answers[key])) mark.answers[key] = { note: row.correction, at: row.at };
  } else if (ask && admits(ask, value)) {
    const [note, reason] = [row.note, row.reason].map((text) => (typeof text === "string" ? text : undefined));
    if (newer(mark.answers[ask.key])) mark.answers[ask.key] = { value, note, reason, at: row.at };
    if (mark.skipped && newer(mark.skipped)) mark.skipped = null;
  } else return false;
  mark.seconds = Math.max(mark.seconds, Number(row.seconds) || 0);
  keep(item, mark);
  return true;
}

function takeLine(line) {
  try {
    return take(JSON.parse(line) ?? {});
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

for (const item of TASK.items) latest(item);
