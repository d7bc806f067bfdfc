import re
from dataclasses import replace

from dialogauge.core import ONE_TO_FIVE, Conversation, Message
from dialogauge.judges.local.evidence import KindEvidence
from dialogauge.report import Page, to_html, to_text
from dialogauge.stats import Estimate
from dialogauge.studies.judging.brief import brief
from dialogauge.studies.judging.findings import FindingExample, FindingsSummary, KindSummary, ReadFirst
from dialogauge.studies.judging.opening import Known, opening
from dialogauge.studies.judging.people import Light, People, PeopleFigure, Rectified
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.summary import summarise
from dialogauge.studies.judging.transcripts import read_sample
from dialogauge.studies.judging.worst import WorstGroup
from parsed_pages import ParsedPage, judged_html, manifest_of, run_of
from report_samples import CARD, Made, checked, dimension, made_run, row


def estimate(value, low, high, n=100):
    return Estimate(value, low, high, 0.95, n, 20, "jackknife by users")


def people(answer="agrees"):
    figure = PeopleFigure(
        "rating", "turn", "satisfaction", ONE_TO_FIVE, "users", 300, 60, 20, estimate(3.9, 3.7, 4.1),
        estimate(0.167, 0.12, 0.21), "3 or less",
    )  # fmt: skip
    length = "the length of the reply"
    light = Light(
        answer, "It finds 70 of 100 pairs.", "rating", "turn", "satisfaction", "auc",
        estimate(0.7, 0.65, 0.75), length, estimate(0.1, 0.05, 0.15), {length: estimate(0.6, 0.55, 0.65)},
    )  # fmt: skip
    means = (estimate(4, 3.9, 4.1), estimate(3, 2, 4), estimate(3.5, 3.3, 3.7))
    rectified = Rectified("rating", "turn", 300, *means)
    return People((figure,), light, (rectified,))


def findings(made):
    evidence = KindEvidence("RecLLMSim", "hindsight", "en", 80, 0.55, 0.167, estimate(3.3, 2.4, 4.2))
    ids = [c.id for c in made.conversations]
    kinds = tuple(
        KindSummary(
            kind, f"What is wrong {n}", 40 - n, 30 - n, evidence if n else None,
            FindingExample(ids[n], 2, "as I said", "The user says it again."),
        )
        for n, kind in enumerate(("doubted", "refuses", "told_already", "reversed", "left_out"))
    )  # fmt: skip
    first = (ReadFirst(ids[3], 5, "The user doubts the reply."), ReadFirst(ids[1], 2, "The reply repeats."))
    return FindingsSummary(60, 33, {"fr": 4}, kinds, first)


CHECKED = checked(*(spec.name for spec in CARD))


def page(known, made=None):
    made = made or made_run(60, failing=0)
    return judged_html(made, known=known)[1]


def glance(html):
    start = html.index('<section id="glance"')
    return html[start : html.index("<section", start + 9)]


def test_the_first_screen_answers_in_order():
    made = made_run(60, failing=0)
    worst = WorstGroup(
        "scenario", "refunds", 20, "people’s mean rating", False, estimate(2, 1.5, 2.5), estimate(4, 3, 5), 3
    )
    shown = glance(page(Known(people=people(), findings=findings(made), worst=worst), made))
    text = ParsedPage(shown[shown.index("<h2") : shown.rindex("</section>")]).text
    places = [
        text.index(words)
        for words in (
            "60 of 60", "users’ satisfaction 3.90", "of 20 users", "16.7 %", "3 or less", "33 of 60",
            "The judge agrees with your users on which turns are poor. It finds 70 of 100 pairs.",
            "What is wrong 0",
            "40 turns in 30 conversations", "fewer than five rated turns have it", "What is wrong 1",
            "people were dissatisfied with 55.0 % of 80 such turns, against 16.7 % of all turns: 3.3 times",
            "What is wrong 2", "worst group", "scenario refunds", "read first", "The user doubts the reply.",
            "The reply repeats.",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert "What is wrong 3" not in text
    assert "in a language that the judge was not checked on (fr); a language model (--model) can" in text


def test_no_score_or_verdict_stands_above_the_fold_of_a_judge_that_does_not_grade():
    made = made_run(60, failing=0)
    html = page(Known(people=people("does not"), findings=findings(made)), made)
    assert "The judge does not agree with your users on which turns are poor." in glance(html)
    assert 'class="note warn"' in glance(html)
    head = html[: html.index('id="scores"')]
    assert "Verdicts of" not in html
    assert not re.search(r"helpfulness <b>\d\.\d\d", head)
    assert "a ranking, not grades" in html
    assert "Verdicts of 60 conversations" in page(Known(people=people(), evidence=CHECKED))


def test_a_kind_that_nobody_bore_out_says_so():
    made = made_run(60, failing=0)
    known = findings(made)
    (kind, *_) = known.kinds
    for name, said in (("doubted", False), ("empty", True), ("repeats_itself", True)):
        one = Known(people=people(), findings=replace(known, kinds=(replace(kind, kind=name),)))
        assert ("blind readers bore it out" in glance(page(one, made))) is not said


def test_without_ratings_the_page_says_how_to_add_some():
    text = ParsedPage(page(Known())).text
    assert "This data has no ratings" in text
    assert "dialogauge annotate make RUN --choose mixed -o DIR" in text


def test_of_many_names_the_head_shows_the_commonest_and_the_others_together():
    said = people()
    names = {f"name {n}": 41 - n for n in range(1, 41)}
    figure = replace(said.figures[0], scale=None, counts=names, n=820, mean=estimate(None, None, None, 0))
    text = ParsedPage(page(Known(people=replace(said, figures=(figure,))))).text
    assert text.count("satisfaction: name 5 36 of 820") == 1
    assert text.count("satisfaction: (others) 630 of 820") == 1
    assert "name 6" not in text


def test_what_has_no_interval_says_why():
    few = Estimate(3.0, None, None, 0.95, 15, 3, "none", "too few users: 3, and an interval takes 5")
    said = people("cannot tell")
    figure = replace(said.figures[0], mean=few, dissatisfied=replace(few, value=0.6))
    head = ParsedPage(glance(page(Known(people=replace(said, figures=(figure,)))))).text
    for words in ("of 1 to 5; 300 ratings, 60 conversations of 20 users", "meaning 3 or less"):
        assert f"{words}; too few users: 3, and an interval takes 5" in head


def test_the_page_says_that_the_judge_was_compared_only_where_it_was():
    said = people("cannot tell")
    assert "In this run one figure of the judge was compared with people" in page(Known(people=said))
    nothing = replace(said.light, judge=estimate(None, None, None, 0))
    without = page(Known(people=replace(said, light=nothing)))
    assert "In this run the judge could not be compared with people; the reason is given above." in without


def test_turns_to_read_first_lead_to_their_place_and_say_why_first():
    made = made_run(60, failing=0)
    html = page(Known(people=people(), findings=findings(made)), made)
    assert html.index('id="weakest"') < html.index('id="before"') < html.index('id="counts"')
    section = html[html.index('id="weakest"') : html.index('id="people"')]
    cards = re.findall(r"<article.*?</article>", section, re.DOTALL)
    assert len(cards) == 2
    first = cards[0]
    assert first.index("The user doubts the reply.") < first.index(made.conversations[3].id)
    link = re.search(r'href="#([^"]+)"', first)[1]
    assert link.endswith("-5")
    assert f'id="{link}"' in html
    listed = re.findall(r'<span class="id">([^<]+)</span>', html)
    assert listed[:2] == [made.conversations[3].id, made.conversations[1].id]


def test_what_people_said_stands_in_a_table_with_the_controls():
    text = ParsedPage(page(Known(people=people(), findings=None))).text
    assert "turns 300 60 20" in text
    assert "the length of the reply 0.600" in text
    assert "+0.100 [0.050, 0.150]" in text
    means = "the judge’s mean people’s, rated only people’s, estimated for all"
    assert f"{means} rating of turns 4.00 [3.90, 4.10] n 100 3.00 [2.00, 4.00] n 100 3.50" in text


def test_where_many_are_unrated_the_head_has_the_rectified_mean_and_no_score_of_the_judge():
    for answer in ("agrees", "does not", "cannot tell"):
        known = Known(people=people(answer))
        estimate = "users’ satisfaction, all turns 3.50 [3.30, 3.70] estimated for all 300 from 100"
        head = ParsedPage(glance(page(known))).text
        assert f"{estimate} ratings and the judge’s scores (rectified mean)" in head
        assert "4.00" not in head
        first = opening(summarise(made_run(60, failing=0).rows, dimensions=CARD), known, ())
        lines = " ".join(to_text(first, wrapped=False).split())
        assert estimate in lines
        assert "4.00" not in lines


def test_a_terminal_says_the_same():
    made = made_run(60, failing=0)
    summary = summarise(made.rows, dimensions=CARD)
    text = to_text(opening(summary, Known(people=people(), findings=findings(made)), ()), wrapped=False)
    assert "OK: The judge agrees with your users on which turns are poor. It finds 70 of 100 pairs." in text
    assert "What is wrong 1  39 turns in 29 conversations. In rated data" in text
    assert "“as I said”" in text
    assert "helpfulness" not in text
    assert "good " not in text
    assert to_html(Page("t", opening(summary, Known(), ())))


def test_a_finding_in_another_language_is_named_in_plain_english_with_its_quote_on_the_line():
    messages = (Message("user", "几点开门?"), Message("assistant", "请稍等。"), Message("user", "我问过了"))
    talk = Conversation("zh", messages)
    notes = {"told": "用户说已问过。", "vague": "空话。"}
    signals = [{"name": name, "strength": 0.9, "note": note} for name, note in notes.items()]
    quotes = (("vague", 1, "请稍等"), ("told", 2, "我问过了"), ("thanked", 2, "谢谢"))
    evidence = [{"turn": turn, "quote": quote, "signal": name} for name, turn, quote in quotes]
    details = {"language": "zh", "signals": signals}
    fields = {"details": details, "issues": list(notes.values()), "evidence": evidence}
    rows = [row("zh", turn=1, scores={"helpfulness": 2}, **fields)]
    kinds = tuple(
        KindSummary(kind, title, 1, 1, None, FindingExample("zh", 1, "q", "n"))
        for kind, title in (("told", "User: I told you already"), ("vague", "General phrases"))
    )
    known = Known(findings=FindingsSummary(1, 1, {}, kinds, (ReadFirst("zh", 1, "用户说已问过。"),)))
    html = judged_html(Made([talk], rows), known=known, dimensions=(dimension("helpfulness"),))[1]
    section = html[html.index('id="weakest"') : html.index('id="before"')]
    assert '<h3 dir="auto">User: I told you already.</h3>' in section
    text = ParsedPage(section[section.index("<div") : section.rindex("</section>")]).text
    assert "turn 2: 用户说已问过。 我问过了 General phrases: 空话。 请稍等" in text
    assert "谢谢" not in text
    assert "General phrases" in html[html.index('class="finder"') :]
    beside = [row("zh", turn=1, scores={"helpfulness": 2}, **fields | {"issues": []})]  # it stands in a quote
    html = judged_html(Made([talk], beside), known=known, dimensions=(dimension("helpfulness"),))[1]
    assert '<h3 dir="auto">User: I told you already.</h3>' in html


def test_a_terminal_shows_rectified_means_and_hides_levels_of_a_judge_that_does_not_grade():
    made = made_run(60, failing=0)
    summary = summarise(made.rows, dimensions=CARD)
    sampler = Sampler(CARD)
    assert list(sampler.through(iter(made.rows)))
    sample = read_sample(run_of(made), sampler.result(), summary.dimensions)

    def shown(known):
        return to_text(brief(summary, sample, known, manifest_of()), wrapped=False)

    text = shown(Known(people=people(), findings=findings(made)))
    assert text.index("with a finding") < text.index("people’s, rated only")
    assert text.index("people’s, rated only") < text.index("What was judged")
    assert "nothing shows that they agree with people: context use, helpfulness" in text
    assert "verdicts" not in text
    graded = shown(Known(people=people(), evidence=CHECKED))
    assert "verdicts" in graded
    assert "nothing shows that they agree with people" not in graded


def test_a_log_in_a_language_that_is_not_read_needs_a_model_and_no_ratings():
    made = made_run(60, failing=0)
    unread = FindingsSummary(0, 0, {"other": 4}, (), ())
    text = glance(page(Known(findings=unread), made))
    assert "none of it was judged" in text
    assert "dialogauge judge LOG --model MODEL" in text
    assert "annotate make" not in text
    for some in (findings(made), FindingsSummary(1, 0, {"other": 4}, (), ())):
        assert "annotate make" in glance(page(Known(findings=some), made))
