import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.text import LanguageTally, detect_language, language_name


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Could you book a table for two tonight?", "en"),
        ("Refund please", "en"),
        ("帮我订一张明天去上海的高铁票", "zh"),
        ("幫我訂一張明天去台北的票", "zh"),
        ("我用 Python 写了一个 function，但是 KeyError 怎么解决", "zh"),
        ("Hola, quiero reservar una mesa para dos personas esta noche", "other"),
        ("Ich möchte bitte einen Tisch für zwei Personen reservieren", "other"),
        ("Je voudrais réserver une table pour deux", "other"),
        ("Dove posso mangiare una buona pizza?", "other"),
        ("明日東京に行きたいのですが", "other"),
        ("내일 서울에 가고 싶어요", "other"),
        ("Я хочу заказать столик", "other"),
        ("", "other"),
        ("1234 !!", "other"),
        ("word " * 200, "en"),
        ("Refund! " * 40, "en"),
        (
            "Paris, Lisbon, Vienna, Prague, Athens, Dublin, Oslo, Berlin, Rome, Madrid, Riga, Bern",
            "en",
        ),
        ("OK.", "en"),
        ("Hello, would you tell me more about yourself, please? ヾノ≧∀≦)o Sure!", "en"),
        (
            '帮我做一个三个月的视频剪辑学习计划！{"uuid": "a-b-c-d", "x": "plan", "kind": "list"}',
            "zh",
        ),
        ("次の関数をAPIのcallで使うと、server error, timeout, retryの順に出ます", "other"),
        ("saya mau pesan meja buat dua orang malam nanti, kira-kira jam delapan, dekat stasiun", "other"),
        (
            "ningependa kuhifadhi meza kwa watu wawili usiku huu karibu stesheni, tafadhali nisaidie",
            "other",
        ),
        (
            "haluaisin varata pöydän kahdelle hengelle illaksi, kiitos avusta paljon, ja palaan pian",
            "other",
        ),
        ("bhai mujhe kal subah dilli jane wali gaadi ka ticket chahiye, kitne paise lagenge batao", "other"),
        ("ᎣᏏᏲ ሰላም ነው", "other"),
    ],
)
def test_languages(text, language):
    assert detect_language(text) == language


def test_code_and_links_do_not_count():
    assert detect_language("怎么修？\n```python\nfor row in reader:\n    print(row)\n```") == "zh"


def test_a_tally_adds_up():
    tally = LanguageTally()
    tally.add("OK")
    tally.add("我想订一张去北京的机票")
    assert tally.language() == "zh"


@given(st.text(max_size=300))
def test_every_text_has_one_of_three(text):
    assert detect_language(text) in ("en", "zh", "other")


def test_codes_are_no_words() -> None:
    """A masked id in a short text may hold pieces that look like words of another language."""
    code = "c_7ce42c8218072e8c"
    assert detect_language(f"Question 1: when does museum {code} open?", f"Write to {code}.") == "en"
    assert detect_language("GPT4") == "en"  # with nothing else, a code is a name
    assert (
        detect_language(f"Où est la clé de la porte {code}?", "Elle est dans le tiroir de la table.")
        == "other"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Where is my parcel?", "en"),
        ("Hallo, ich habe mein Paket noch nicht bekommen. Wo ist es?", "de"),
        ("Hola, mi pedido no ha llegado todavía. ¿Puede decirme dónde está?", "es"),
        ("Bonjour, je n'ai pas reçu mon colis. Pouvez-vous me dire où il est ?", "fr"),
        ("Hej, jag har inte fått mitt paket än. Kan du se var det är?", "sv"),
        ("Hei, jeg har ikke fått pakken min ennå. Kan du se hvor den er? Det er en gave.", "other"),
        ("Dobrý den, ještě jsem nedostal svůj balík. Můžete mi říct, kde je?", "other"),
        ("荷物がまだ届いていません。どこにありますか？", "ja"),
        ("제 소포가 아직 도착하지 않았습니다.", "ko"),
        ("Где мой заказ?", "Cyrillic"),
        ("مرحبا، أين طلبي؟", "Arabic"),
        ("```\nfor row in rows: print(row)\n``` Где?", "Cyrillic"),
        ("12 + 30", "other"),
    ],
)
def test_a_language_is_named_where_words_or_letters_say_which(text, name):
    assert language_name(text) == name
