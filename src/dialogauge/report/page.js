// Search, sort and filter of a list of conversations. All of it can be read without this script.
"use strict";
const STEP = 100;

function setUp(list) {
  const finder = list.querySelector(".finder");
  const [search, order, ...filters] = finder.querySelectorAll("input, select");
  const status = finder.querySelector("[role=status]");
  const place = list.querySelector(".talks");
  const talks = [...list.querySelectorAll(".talks > details")];
  const facts = new Map(talks.map((talk, at) => [talk, {
    at,
    ranks: (talk.dataset.r || "").split(",").map((rank) => (rank === "" ? Infinity : Number(rank))),
    groups: (talk.dataset.g || "").split(",").map((group) => group.split(".")),
  }]));
  const more = document.createElement("button");
  let shown = STEP;

  function words(talk) {
    const known = facts.get(talk);
    known.words ??= talk.textContent.toLowerCase();
    return known.words;
  }

  function chosen() {
    const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = talks.filter((talk) => filters.every((filter, at) =>
      filter.selectedIndex === 0 || facts.get(talk).groups[at].includes(filter.value),
    ) && asked.every((word) => words(talk).includes(word)));
    if (order.selectedIndex > 0) {
      const rank = (talk) => facts.get(talk).ranks[Number(order.value)];
      found.sort((a, b) => (rank(a) === rank(b) ? facts.get(a).at - facts.get(b).at : rank(a) - rank(b)));
    }
    return found;
  }

  function show() {
    const found = chosen();
    place.replaceChildren(...found.slice(0, shown));
    status.textContent = `${found.length.toLocaleString("en")} of ${talks.length.toLocaleString("en")} conversations`;
    more.hidden = found.length <= shown;
  }

  function reveal() {
    const target = location.hash.slice(1);
    const talk = target && talks.find((one) => one.querySelector(`#${CSS.escape(target)}`));
    if (!talk) return;
    talk.open = true;
    if (!talk.isConnected) place.prepend(talk);
    talk.querySelector(`#${CSS.escape(target)}`).scrollIntoView();
  }

  let waiting;
  const again = () => {
    shown = STEP;
    show();
  };
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(again, 150);
  });
  for (const select of [order, ...filters]) select.addEventListener("change", again);
  more.textContent = `Show ${STEP} more`;
  more.type = "button";
  more.addEventListener("click", () => {
    shown += STEP;
    show();
  });
  list.querySelector("details.more")?.remove();
  place.after(more);
  finder.hidden = false;
  show();
  reveal();
  window.addEventListener("hashchange", reveal);
}

for (const list of document.querySelectorAll(".list")) setUp(list);
