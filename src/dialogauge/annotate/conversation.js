// Elements, dialogs and conversations. Texts become text nodes; no markup is ever parsed.
const WORDS = JSON.parse(document.getElementById("words").textContent);
const LONGEST = 12000; // characters of a message that are shown before all are asked for
const FOLDED = 400; // characters; a longer result of a tool is folded
const KINDS = new Set("p b i del ul li code pre hr blockquote div table tbody tr td".split(" "));
const app = document.getElementById("app");
const toast = document.getElementById("toast");
const one = (selector) => app.querySelector(selector);

function t(key, values = {}) {
  return WORDS[place.language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

function button(label, click, attributes) {
  return h("button", { type: "button", click, ...attributes }, label);
}

function say(text) {
  toast.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => toast.replaceChildren(), 7000);
}

function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return t("seconds", { n: Math.round(seconds) });
  return minutes < 60 ? t("minutes", { n: minutes }) : t("hours", { h: Math.floor(minutes / 60), m: minutes % 60 });
}

// dialogs

function shown(title, inside, attributes) {
  const head = h("h2", { tabindex: -1, autofocus: true }, title);
  const dialog = h("dialog", { "aria-label": title, close: () => dialog.remove(), ...attributes }, head, inside);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Ask for a text; null where the rater thinks better of it.
function entered(title, text, value, needed) {
  return new Promise((resolve) => {
    const area = h("textarea", { rows: 3, "aria-label": text });
    area.value = value ?? "";
    const end = () => {
      if (needed && !area.value.trim()) return area.focus();
      resolve(area.value.trim());
      return dialog.close();
    };
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      end();
    });
    const actions = h("div", { class: "actions" }, button(t("cancel"), () => dialog.close()), button(t("ok"), end, { class: "main" }));
    const dialog = shown(title, [h("p", { class: "soft" }, text), area, actions]);
    dialog.addEventListener("close", () => resolve(null));
    area.focus();
  });
}

// conversations

function grown([tag, classes, ...children]) {
  const inside = children.map((child) => (typeof child === "string" ? child : grown(child)));
  return h(KINDS.has(tag) ? tag : "span", { class: classes || null }, inside);
}

function prose(body, classes = "say") {
  if (typeof body !== "string") return h("div", { class: `${classes} md`, dir: "auto" }, [...grown(body).childNodes]);
  const element = h("div", { class: classes, dir: "auto" }, body.slice(0, LONGEST));
  if (body.length <= LONGEST) return element;
  const more = button(t("show_all", { n: body.length.toLocaleString(place.language) }), () => {
    element.textContent = body;
    more.remove();
  }, { class: "link" });
  return [element, more];
}

function folded(summary, inside, classes) {
  return h("details", { class: classes }, h("summary", {}, summary), inside);
}

function message({ role, body, name, calls }) {
  if (role === "system") return folded(t("system"), prose(body), "system");
  if (role === "tool") {
    const who = h("span", { class: "who" }, name ? t("tool_named", { name }) : t("tool"));
    if (body.length <= FOLDED) return h("div", { class: "result" }, who, prose(body, "mono"));
    const start = h("code", { class: "start" }, body.slice(0, FOLDED / 2));
    return folded([who, start, h("span", { class: "link" }, t("show_result"))], prose(body, "mono"), "result");
  }
  const made = (calls ?? []).map((call) =>
    folded([h("b", {}, call.name), h("code", {}, call.arguments)], prose(call.arguments ?? "", "mono"), "call"));
  const who = ["user", "assistant"].includes(role) ? t(role) : role;
  const text = body.length || !made.length ? prose(body || t("no_text")) : null;
  return h("div", { class: role === "user" ? "msg user" : "msg reply" }, h("span", { class: "who" }, who), text, made);
}

function turnsOf(messages, before) {
  const parts = [];
  let number, section;
  for (const [place, each] of messages.entries()) {
    if (before && place === before) {
      section = null;
      parts.push(h("p", { class: "note" }, t("from_here")));
    }
    if (each.role === "system") {
      parts.push(message(each));
      continue;
    }
    if (!section || number !== each.turn) {
      number = each.turn;
      const head = h("h3", {}, t("turn", { n: number }), h("span", { class: "tag" }, t("rated_turn")));
      section = h("section", { class: "round", "data-turn": number }, number ? head : null);
      parts.push(section);
    }
    section.append(message(each));
  }
  return parts;
}

function conversation(item) {
  const about = Object.entries(item.about).map(([name, value]) =>
    [h("dt", {}, WORDS.en[`about_${name}`] ? t(`about_${name}`) : name), h("dd", { dir: "auto" }, value)]);
  const facts = about.length ? h("dl", { class: "plain about" }, about) : null;
  const { skipped, flagged } = marks.get(item.id);
  const states = [
    skipped ? h("p", { class: "note warn" }, t("skipped", { why: skipped.why }), " ", t("rate_after_all")) : null,
    flagged ? h("p", { class: "note" }, t("flagged", { why: flagged.why })) : null,
  ];
  if (!item.left) return [states, facts, turnsOf(item.messages, item.before)];
  const side = (name) => h("section", { class: `side ${name}` }, h("h2", {}, t(name)), turnsOf(item[name]));
  const shared = item.messages?.length ? [h("h2", {}, t("shared")), turnsOf(item.messages)] : null;
  const tabs = ["left", "right"].map((name) => button(t(name), () => showSide(name), { "data-side": name }));
  return [
    states, facts, shared,
    h("div", { class: "switch", role: "group", "aria-label": t("sides") }, tabs),
    h("div", { class: "sides" }, side("left"), side("right")),
  ];
}

function showSide(name) {
  one(".sides").dataset.side = name;
  for (const tab of app.querySelectorAll(".switch button")) tab.setAttribute("aria-pressed", tab.dataset.side === name);
}
