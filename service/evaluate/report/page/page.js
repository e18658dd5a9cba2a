
"use strict";
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const cases = [...document.querySelectorAll("details.case")];
  const groups = [...document.querySelectorAll("details.group")];
  const selects = [...form.querySelectorAll("select")];
  const search = form.querySelector("input");
  const output = form.querySelector("output");
  const empty = document.querySelector(".empty");
  const texts = new Map();
  const initially = new Map(groups.map((group) => [group, group.open]));
  const facets = selects.map((select) => select.dataset.facet);

  const textOf = (each) => {
    if (!texts.has(each)) texts.set(each, each.textContent.normalize("NFC").toLowerCase());
    return texts.get(each);
  };
  const valueOf = (each, facet) => {
    if (facet === "word") return each.dataset.word;
    if (facet === "group") return each.closest("details.group").dataset.group;
    return each.dataset[facet];
  };
  const filter = () => {
    const wanted = search.value.normalize("NFC").toLowerCase().trim();
    const chosen = selects.map((select) => select.value);
    const active = wanted !== "" || chosen.some((value) => value !== "");
    let seen = 0;
    for (const each of cases) {
      const fits = chosen.every((value, place) => value === "" || valueOf(each, facets[place]) === value)
        && (wanted === "" || textOf(each).includes(wanted));
      each.hidden = !fits;
      seen += fits ? 1 : 0;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector("details.case:not([hidden])");
      group.open = active || initially.get(group);
    }
    empty.hidden = seen > 0;
    output.textContent = seen.toLocaleString("ko") + " / " + cases.length.toLocaleString("ko") + "건";
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  for (const button of form.querySelectorAll("[data-all]")) {
    button.addEventListener("click", () => {
      const open = button.dataset.all === "open";
      for (const each of [...groups, ...cases]) if (!each.hidden) each.open = open || (each.matches(".group") && each.open);
    });
  }
  filter();
})();
