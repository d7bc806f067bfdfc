// The rating page on the screen: questions, screens, keys.
const LETTERS = "abcdehilmoqtvyz"; // choose a reason; the other letters are commands
const touched = matchMedia("(hover: none) and (max-width: 60rem)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const KEYS = [
  ["1 2 3 …", "key_score"], ["1 2 3", "key_pair"], ["a b c …", "key_reason"], ["r", "key_write"], ["w", "key_better"], ["u", "key_undo"],
  ["Enter", "key_enter"], ["j k", "key_turns"], ["p n", "key_items"], ["g", "key_unfinished"], ["s", "key_skip"],
  ["f", "key_flag"], ["x", "key_sides"], ["Ctrl+S", "key_save"], ["?", "key_help"],
];

// what a rater does

function go(changes) {
  settle();
  const before = { ...place };
  Object.assign(place, { writing: null, waiting: null }, changes);
  write("place", place);
  if (current() && place.screen === before.screen && place.item === before.item) showPanel();
  else showScreen();
}

function answer(ask, value) {
  if (!admits(ask, value)) return;
  toast.replaceChildren();
  change(current(), ask.key, (mark) => {
    const { note, reason } = mark.answers[ask.key] ?? {};
    const given = { value, note, at: now() };
    mark.answers[ask.key] = wantsReason(ask, given) ? { ...given, reason } : given;
    mark.skipped = null;
  });
  advance(ask);
}

// Go on to the next question; a turn is not left while a score of it waits for its reason.
function advance(ask) {
  const item = current();
  const asks = asksOf(item);
  const { asks: together } = plans.get(item.id).find((group) => group.asks.includes(ask));
  const following = asks[asks.indexOf(ask) + 1];
  const lacking = together.find((each) => lacksReason(each, answerOf(item, each)));
  if (lacking && !together.includes(following)) return go({ key: lacking.key, waiting: lacking.key });
  const next = following ?? openAsks(item)[0];
  go({ key: (next ?? ask).key });
  return next || one(".go").focus({ preventScroll: true });
}

// Go on after a reason or a note.
function noted(ask) {
  const waiting = place.waiting === ask.key;
  if (ask.key !== place.key || lacksReason(ask, answerOf(current(), ask))) return go({ waiting: place.waiting });
  return advance(waiting ? currentGroup().asks.at(-1) : ask);
}

function choose(ask, reason) {
  change(current(), ask.key, (mark) => {
    const given = mark.answers[ask.key];
    mark.answers[ask.key] = { ...given, reason: given.reason === reason ? undefined : reason, at: now() };
  });
  noted(ask);
}

function undo() {
  const step = unmade();
  if (!step) return say(t("nothing_to_undo"));
  const asks = asksOf(byId.get(step.item));
  const ask = asks.find(({ key }) => key === step.key) ?? asks.find(({ turn }) => step.key === betterKey(turn)) ?? asks[0];
  go({ screen: "item", item: step.item, key: ask?.key });
  return say(t("undone"));
}

async function skip() {
  const item = current();
  const why = await entered(t("skip_title"), t("skip_text"), marks.get(item.id).skipped?.why, true);
  if (!why) return;
  change(item, "", (mark) => { mark.skipped = { why, at: now() }; });
  step(1);
}

async function flag() {
  const item = current();
  const why = await entered(t("flag_title"), t("flag_text"), marks.get(item.id).flagged?.why, false);
  if (why === null) return;
  change(item, "", (mark) => { mark.flagged = why ? { why, at: now() } : null; });
  showScreen();
}

function open(item) {
  go({ screen: "item", item: item.id, key: (openAsks(item)[0] ?? asksOf(item)[0])?.key });
}

function step(by) {
  const at = TASK.items.indexOf(current()) + by;
  if (at >= TASK.items.length) go({ screen: "end" });
  else if (at >= 0) open(TASK.items[at]);
}

function stepTurn(by) {
  const groups = plans.get(place.item);
  const group = groups[groups.indexOf(currentGroup()) + by];
  if (group) enter(group);
}

function enter(group) {
  go({ key: (group.asks.find((ask) => !answerOf(current(), ask)) ?? group.asks[0]).key });
}

function stepAsk(by) {
  const asks = asksOf(current());
  const ask = asks[asks.indexOf(currentAsk()) + by];
  if (ask) go({ key: ask.key });
}

function goOn() {
  const left = openAsks(current());
  if (!left.length) return step(1);
  go({ key: left[0].key, waiting: place.waiting });
  return say(t("open_hint", { n: left.length }));
}

function save() {
  settle();
  const url = URL.createObjectURL(new Blob([fileText()], { type: "application/x-ndjson" }));
  h("a", { href: url, download: fileName() }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60e3);
  unsaved = false;
  const [n, left] = [TASK.items.length, unfinished().length];
  say(t(left ? "saved_half" : "saved", { file: fileName(), done: n - left, n }));
}

async function copy() {
  settle();
  try {
    await navigator.clipboard.writeText(fileText());
    unsaved = false;
    say(t("copied"));
  } catch {
    const area = h("textarea", { readonly: true, rows: 8, "aria-label": t("copy") });
    area.value = fileText();
    one(".by-hand").replaceChildren(h("p", {}, t("copy_by_hand")), area);
    area.select();
  }
}

async function load(file) {
  const lines = (await file.text()).split(/\r?\n/).filter((line) => line.trim());
  const refused = lines.filter((line) => !takeLine(line)).length;
  const n = lines.length - refused;
  showScreen();
  say(n ? t(refused ? "loaded_some" : "loaded", { n, refused }) : t("loaded_none"));
}

// help

function help() {
  const close = button(t("close"), () => dialog.close(), { class: "main" });
  const dialog = shown(t("keys_help"), [keys(), guideline(), h("div", { class: "actions" }, close)], { class: "wide" });
}

function keys() {
  const row = ([names, key]) => [h("dt", {}, names.split(" ").map((name) => [h("kbd", {}, name), " "])), h("dd", {}, t(key))];
  const pairs = TASK.items.some((item) => item.left);
  return h("dl", { class: "keys" }, KEYS.filter(([, key]) => pairs || !["key_pair", "key_sides"].includes(key)).map(row));
}

function guideline() {
  return TASK.questions.map((question) => {
    const anchors = Object.entries(question.anchors ?? {}).sort(([a], [b]) => Number(b) - Number(a));
    const scores = question.reason_for?.length ? question.reason_for.map((score) => score in WORDS.en ? t(score) : score).join(", ") : "";
    return h("article", { class: "guide" },
      h("h3", {}, h("span", {}, question.title || question.name), h("span", { class: "tag" }, t(`each_${question.level}`))),
      question.text ? h("p", {}, question.text) : null,
      h("dl", { class: "plain" }, anchors.map(([score, text]) => [h("dt", {}, score), h("dd", {}, text)])),
      scores ? h("p", { class: "small soft" }, t("reason_rule", { scores })) : null);
  });
}

// questions

const anchorOf = ({ question }, value) => question.anchors?.[String(value)] ?? "";

function radios(ask, chosen, tip) {
  const rest = () => tip.replaceChildren();
  return choicesOf(ask.question).map(({ value, digit }, at) => {
    const label = ask.question.level === "pair" ? t(value) : String(value);
    const anchor = anchorOf(ask, value);
    const show = () => { tip.textContent = anchor; };
    const first = chosen === undefined ? at === 0 : chosen === value;
    return button([h("b", {}, label), digit && digit !== label ? h("kbd", {}, digit) : null], (event) => isMeant(event) && answer(ask, value), {
      role: "radio", "aria-checked": String(chosen === value), "aria-label": anchor ? `${label}: ${anchor}` : label,
      tabindex: first ? 0 : -1, pointerenter: show, pointerleave: rest, focus: show, blur: rest,
    });
  });
}

// The second tap of a double tap is not meant for the question that has come by then.
function isMeant({ detail, timeStamp }) {
  const meant = detail < 2 || timeStamp - isMeant.last > 250;
  isMeant.last = timeStamp;
  return meant;
}

function typed(ask, chosen) {
  const { low, high } = ask.question;
  const label = t(isWhole(ask.question) ? "whole_number" : "number", { low, high });
  const input = h("input", { class: "typed", inputmode: "decimal", autocomplete: "off", "aria-label": label, placeholder: `${low}–${high}` });
  input.value = chosen ?? "";
  input.addEventListener("change", () => {
    if (!input.isConnected) return undefined;
    const text = input.value.trim().replace(",", ".");
    if (text && admits(ask, Number(text))) return answer(ask, Number(text));
    input.value = chosen ?? "";
    return say(label);
  });
  return input;
}

function note(key, label, attributes = { rows: 1, placeholder: touched.matches ? label : `${label} (r)` }) {
  const area = h("textarea", { "aria-label": label, "data-note": key, ...attributes });
  let first = true;
  area.value = marks.get(current().id).answers[key]?.note ?? "";
  area.addEventListener("input", () => {
    const item = current();
    const edit = (mark) => {
      mark.answers[key] = { ...mark.answers[key], note: area.value, at: now() };
      mark.skipped = null;
    };
    if (first) {
      change(item, key, edit);
    } else {
      const mark = latest(item);
      edit(mark);
      keep(item, mark);
    }
    first = false;
    showState();
  });
  return area;
}

// Why a score was given: the reasons to choose from, and room for one's own words.
function why(ask) {
  const given = answerOf(current(), ask);
  const score = ask.question.level === "pair" ? t(given.value) : given.value;
  const what = [ask.turn === null ? null : t("turn", { n: ask.turn }), ask.question.title].filter(Boolean).join(" · ");
  const title = t("why", { score });
  const reasons = (ask.question.reasons ?? []).map((reason, at) =>
    button([LETTERS[at] ? h("kbd", {}, LETTERS[at]) : null, reason], () => choose(ask, reason), { "aria-pressed": String(given.reason === reason) }));
  return h("div", { class: "cause", "data-key": ask.key, role: "group", "aria-label": `${what}: ${title}` },
    h("p", {}, h("span", { class: "what" }, what), title),
    h("div", { class: "reasons" }, reasons), note(ask.key, t("write_reason")));
}

function asking(ask) {
  const { low, high, title, name, text, level } = ask.question;
  const given = answerOf(current(), ask);
  const here = ask.key === place.key;
  const reasoned = wantsReason(ask, given);
  const asks = asksOf(current());
  const tip = h("div", { class: "tip", "aria-hidden": "true" });
  const choices = radios(ask, given?.value, tip);
  const chosen = given && ![low, high].includes(given.value) && anchorOf(ask, given.value);
  const ends = [low, high].map((end) => h("span", {}, anchorOf(ask, end) && `${end}: ${anchorOf(ask, end)}`));
  const group = h("div", { class: "choices", role: "radiogroup", "aria-label": [title || name, text].filter(Boolean).join(". "), tabindex: -1 }, choices);
  const steps = h("span", { class: "stepper" },
    button("‹", () => stepAsk(-1), { "aria-label": t("question_previous") }),
    t("question_of", { i: asks.indexOf(ask) + 1, n: asks.length }),
    button("›", () => stepAsk(1), { "aria-label": t("question_next") }));
  const open = given && !reasoned && (given.note || place.writing === ask.key);
  const pencil = given && !reasoned && !open && button([t("note"), here ? h("kbd", {}, "r") : null], () => writeNote(ask), { class: "link" });
  return h("section", { class: `ask${here ? " here" : ""}${given ? " given" : ""}`, "data-key": ask.key, focusin: (event) => arrive(ask, event), pointerdown: (event) => arrive(ask, event) },
    h("header", {}, h("h3", {}, title || name), pencil || null, steps),
    text ? h("p", { class: "text" }, text) : null,
    h("div", { class: "row" }, group, tip), level !== "pair" && (!choices.length || choices.length > 9) ? typed(ask, given?.value) : null,
    level === "pair" ? null : h("p", { class: "ends" }, ends),
    chosen ? h("p", { class: "anchor" }, `${given.value}: ${chosen}`) : null,
    open ? note(ask.key, t("note")) : null, reasoned ? why(ask) : null);
}

// Room for the reply that the rater would have liked to read.
function better(turn) {
  const key = betterKey(turn);
  const open_ = place.writing === key || marks.get(place.item).answers[key]?.note;
  if (!open_) return h("div", { class: "better" }, button([t("better"), h("kbd", {}, "w")], writeBetter, { class: "link" }));
  return h("div", { class: "better" }, h("label", {}, t("better"), h("small", { class: "soft" }, t("better_text"))), note(key, t("better"), { rows: 4, dir: "auto" }));
}

function writeBetter() {
  const { turn } = currentGroup() ?? { turn: null };
  if (turn === null) return false;
  go({ writing: betterKey(turn), waiting: place.waiting });
  return one(".better textarea").focus();
}

// The question that gets the focus is the one that keys answer; a reason can be given from another.
function arrive(ask, { target }) {
  if (place.key === ask.key || target.closest(".cause")) return;
  place.key = ask.key;
  write("place", place);
  for (const each of app.querySelectorAll(".ask")) each.classList.toggle("here", each.dataset.key === ask.key);
  showKeyed();
}

// Mark the question whose reason a letter chooses.
function showKeyed() {
  const key = reasonAsk()?.key;
  for (const each of app.querySelectorAll(".cause")) each.classList.toggle("keyed", each.dataset.key === key);
}

function writeNote(ask) {
  if (!ask || !answerOf(current(), ask)) return;
  const key = currentGroup().asks.includes(ask) ? place.key : ask.key;
  go({ key, writing: ask.key, waiting: place.waiting });
  one(`[data-note="${CSS.escape(ask.key)}"]`).focus();
}

// screens

function bar() {
  const language = button(t("language"), () => {
    place.language = place.language === "en" ? "zh" : "en";
    write("place", place);
    showScreen();
  }, { class: "link" });
  const save_ = button(t("save"), save, { title: t("key_save") });
  const way = [
    button("‹", () => step(-1), { "aria-label": t("previous"), title: t("previous") }), h("b", { class: "where" }),
    button("›", () => step(1), { "aria-label": t("next"), title: t("next") }),
  ];
  return h("header", { class: "bar" },
    current() ? h("div", { class: "way" }, way) : h("b", { class: "way" }, "dialogauge"),
    h("div", { class: "progress", role: "progressbar", "aria-label": t("progress"), "aria-valuemin": 0, "aria-valuemax": TASK.items.length }, h("i")),
    h("span", { class: "pace" }), current() ? save_ : null,
    button("?", help, { "aria-label": t("keys_help"), title: t("keys_help") }), language);
}

// Show how far the rater is: all that changes while a text is typed.
function showState() {
  const [n, left] = [TASK.items.length, unfinished().length];
  one(".storage").hidden = keeps;
  const progress = one(".progress");
  progress.setAttribute("aria-valuenow", n - left);
  progress.setAttribute("aria-valuetext", t("finished", { done: n - left, n }));
  progress.title = t("finished", { done: n - left, n });
  progress.firstChild.style.width = `${(100 * (n - left)) / n}%`;
  const each = median();
  one(".pace").textContent = left && each ? t("pace", { median: duration(each), left: duration(each * left) }) : "";
  const item = current();
  if (!item) return;
  one(".where").textContent = t("place", { i: TASK.items.indexOf(item) + 1, n });
  const here = openAsks(item).length;
  const next = one(".go");
  next.replaceChildren(here ? t("open_questions", { n: here }) : t("next_item"), " ", h("kbd", {}, "⏎"));
  next.classList.toggle("main", !here);
}

function showPanel() {
  const item = current();
  const panel = one(".panel");
  const top = one(".asks")?.scrollTop;
  const group = plans.get(item.id).length ? currentGroup() : { turn: null, asks: [] };
  const groups = plans.get(item.id);
  const label = ({ turn }) => (turn === null ? t("whole") : t("turn", { n: turn }));
  const parts = groups.map((one_) => button(label(one_), () => enter(one_), {
    "aria-current": one_ === group ? "step" : null,
    class: one_.asks.every((ask) => !openAsks(item).includes(ask)) ? "done" : null,
  }));
  panel.replaceChildren(
    ...[
      groups.length > 1 ? h("nav", { class: "parts", "aria-label": t("parts") }, parts) : null,
      h("div", { class: "asks" }, groups.length ? null : h("p", { class: "soft" }, t("nothing_asked")), group.asks.map(asking), group.turn === null ? null : better(group.turn)),
      h("footer", {},
        button([t("undo"), h("kbd", {}, "u")], undo), button([t("skip"), h("kbd", {}, "s")], skip),
        button([t("flag"), h("kbd", {}, "f")], flag), button("", goOn, { class: "go" })),
    ].filter(Boolean));
  showState();
  showKeyed();
  const here = one(".ask.here");
  reveal(one(".asks"), here, top);
  reveal(one(".parts"), one("[aria-current]"));
  here?.querySelector("[role=radiogroup]").focus({ preventScroll: true });
  document.documentElement.style.setProperty("--panel", `${panel.offsetHeight}px`);
  showTurn(group.turn);
}

// Scroll a box so far that a part of it is seen, and nothing around it: the conversation may be on its way.
function reveal(box, part, top = 0) {
  if (!box || !part) return;
  box.scrollTop = top;
  const [outer, inner] = [box, part].map((each) => each.getBoundingClientRect());
  box.scrollTop += Math.min(0, inner.top - outer.top) + Math.max(0, Math.min(inner.bottom - outer.bottom, inner.top - outer.top));
  box.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}

// Mark the turn that is rated, and bring it into sight where it is another than before.
function showTurn(turn) {
  const chat = one(".chat");
  const before = chat.dataset.turn;
  chat.dataset.turn = turn ?? "";
  chat.classList.toggle("focused", turn !== null);
  for (const section of chat.querySelectorAll(".round")) section.classList.toggle("rated", turn !== null && section.dataset.turn === String(turn));
  const rated = chat.querySelector(".rated");
  const seen = before === undefined && rated?.getBoundingClientRect().top < innerHeight / 3; // at the top of a new item
  if (rated && !seen && before !== chat.dataset.turn) rated.scrollIntoView({ behavior: still.matches || before === undefined ? "auto" : "smooth" });
}

function showScreen() {
  toast.replaceChildren();
  document.documentElement.lang = place.language === "zh" ? "zh-CN" : "en";
  const item = current();
  if (place.screen === "item" && !currentAsk() && item) place.key = asksOf(item)[0]?.key;
  const warning = h("p", { class: "note warn storage", role: "alert", hidden: true }, h("span", {}, t("no_storage")));
  if (item) {
    const main = h("main", { class: item.left ? "rate pair" : "rate" }, h("div", { class: "chat" }, conversation(item)), h("aside", { class: "panel" }));
    app.replaceChildren(bar(), warning, main);
    scrollTo(0, 0);
    if (item.left) showSide("left");
    showPanel();
  } else {
    app.replaceChildren(bar(), warning, place.screen === "end" ? end() : start());
    scrollTo(0, 0);
    showState();
    one(".main").focus({ preventScroll: true });
  }
}

function fact(name, value, under) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value), under ? h("small", { class: "soft" }, under) : null);
}

function loader() {
  const input = h("input", { type: "file", accept: ".jsonl,.json,.txt", change: () => input.files[0] && load(input.files[0]) });
  return h("label", { class: "load" }, t("load"), input);
}

function start() {
  const n = TASK.items.length;
  const left = unfinished();
  const pairs = TASK.items.filter((item) => item.left).length;
  const begun = left.length < n || [...marks.values()].some((mark) => Object.keys(mark.answers).length);
  const questions = TASK.items.reduce((sum, item) => sum + asksOf(item).length, 0);
  const begin = () => (left.length ? open(left[0]) : go({ screen: "end" }));
  return h("main", { class: "sheet" },
    h("h1", {}, TASK.title),
    h("div", { class: "intro" }, prose(TASK.introduction)),
    h("dl", { class: "facts" }, fact(t("rater"), TASK.rater),
      fact(t("items"), t("items_value", { n }), pairs ? t("pairs_value", { n: pairs }) : begun ? t("finished", { done: n - left.length, n }) : null),
      fact(t("questions"), questions)),
    h("div", { class: "actions" }, button([t(begun ? "go_on" : "start"), h("kbd", {}, "⏎")], begin, { class: "main" }), loader()),
    h("p", { class: "small soft" }, t("privacy")),
    h("h2", {}, t("guideline")), guideline(), h("h2", { class: "keys-title" }, t("keys")), keys());
}

function end() {
  settle();
  const all = [...marks.values()];
  const left = unfinished();
  const skipped = all.filter((mark) => mark.skipped).length;
  const time = all.reduce((sum, mark) => sum + mark.seconds, 0);
  const saver = button(t("save"), save, { class: left.length ? null : "main" });
  return h("main", { class: "sheet" },
    h("h1", {}, t(left.length ? "end_open" : "end")),
    h("p", { class: "by" }, left.length ? t("end_open_text", { n: left.length }) : t("end_text")),
    h("div", { class: "actions" }, left.length ? button([t("first_open"), h("kbd", {}, "g")], () => open(left[0]), { class: "main" }) : null,
      saver, button(t("copy"), copy), button(t("back"), () => open(TASK.items.at(-1)))),
    h("div", { class: "by-hand" }),
    h("dl", { class: "facts" }, fact(t("count_rated"), all.length - left.length - skipped), fact(t("count_skipped"), skipped),
      fact(t("count_flagged"), all.filter((mark) => mark.flagged).length), fact(t("count_time"), duration(time))));
}

// keys

const COMMANDS = {
  "?": help, u: undo, g: () => (unfinished().length ? open(unfinished()[0]) : go({ screen: "end" })),
};
const ITEM_COMMANDS = {
  s: skip, f: flag, n: () => step(1), p: () => step(-1), arrowright: () => step(1), arrowleft: () => step(-1),
  j: () => stepTurn(1), k: () => stepTurn(-1), r: () => writeNote(reasonAsk() ?? answered()), w: writeBetter,
  x: () => one(".sides") && showSide(one(".sides").dataset.side === "left" ? "right" : "left"),
};

// The question that a note belongs to: this one, or while it has no answer the one before it.
function answered() {
  const asks = asksOf(current());
  const ask = currentAsk();
  return answerOf(current(), ask) ? ask : asks[asks.indexOf(ask) - 1];
}

// Letters and digits by their place where the keyboard writes other signs there.
function keyOf(event) {
  const [, digit] = /^(?:Digit|Numpad)(\d)$/.exec(event.code) ?? [];
  if (event.key === "?" || event.key.length > 1) return event.key.toLowerCase();
  if (digit && !event.shiftKey) return digit;
  return event.key > "~" && event.code.startsWith("Key") ? event.code[3].toLowerCase() : event.key.toLowerCase();
}

function press(key) {
  const item = current();
  if (COMMANDS[key]) return COMMANDS[key]();
  if (!item) return place.screen === "end" && (key === "p" || key === "arrowleft") ? open(TASK.items.at(-1)) : false;
  if (ITEM_COMMANDS[key]) return ITEM_COMMANDS[key]();
  if (key === "enter") return goOn();
  return /^[\d.,-]$/.test(key) ? pressDigit(key) : pressLetter(key);
}

function pressDigit(key) {
  const ask = currentAsk();
  if (!ask) return false;
  const choices = choicesOf(ask.question);
  const tie = ask.question.level === "pair" && key === "0" ? "tie" : undefined;
  const value = tie ?? choices.find(({ digit }) => digit === key)?.value;
  if (place.waiting === ask.key) return say(t("reason_first"));
  if (value !== undefined) return answer(ask, value);
  const field = one(".ask.here .typed");
  if (!field) return false;
  field.select();
  return false; // the browser writes the digit into the field
}

function pressLetter(key) {
  const ask = reasonAsk();
  const reason = ask && wantsReason(ask, answerOf(current(), ask)) && ask.question.reasons?.[LETTERS.indexOf(key)];
  return reason ? choose(ask, reason) : false;
}

function leave(target) {
  if (target.matches(".typed")) return target.dispatchEvent(new Event("change")); // which answers
  target.blur();
  const ask = asksOf(current()).find(({ key }) => key === target.dataset.note);
  return ask ? noted(ask) : go({});
}

function along(event) {
  const by = { arrowleft: -1, arrowup: -1, arrowright: 1, arrowdown: 1 }[event.key.toLowerCase()];
  const all = [...event.target.parentElement.children];
  if (by) all[(all.indexOf(event.target) + by + all.length) % all.length].focus();
  return by !== undefined;
}

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  const writes = target.matches("textarea, input:not([type=file])");
  const held = (event.ctrlKey || event.metaKey) && !event.shiftKey ? event.key.toLowerCase() : "";
  if (held === "s") {
    save(); // the answers, not the page
  } else if (writes) {
    const ends = target.closest(".better") ? ["Escape"] : ["Enter", "Escape"]; // a reply has lines
    if (!current() || !ends.includes(event.key) || event.shiftKey) return;
    leave(target);
  } else if (held === "z") {
    undo();
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (target.matches("[role=radio]") && along(event)) {
    // moved among the choices
  } else if (event.key === "Enter" && target.matches("button:not([role=radio]), summary, label, input")) {
    return;
  } else if (press(keyOf(event)) === false) {
    return;
  }
  event.preventDefault();
});
for (const kind of ["keydown", "pointerdown", "pointermove", "scroll"]) {
  addEventListener(kind, () => { tick(); alive = Date.now(); }, { passive: true, capture: true });
}
setInterval(tick, 1000);
document.addEventListener("visibilitychange", settle);
addEventListener("pagehide", settle);
addEventListener("beforeunload", (event) => {
  if (!keeps && unsaved) event.preventDefault();
});
addEventListener("storage", (event) => {
  if (!event.key?.startsWith(`${PREFIX}item `)) return;
  const item = byId.get(event.key.slice(PREFIX.length + 5));
  if (item) latest(item);
  if (!current()) showScreen();
  else if (!document.activeElement.matches("textarea, input")) showPanel();
  say(t("two_tabs"));
});
write("place", place);
showScreen();
